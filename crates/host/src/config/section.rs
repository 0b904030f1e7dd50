//! Finds the sections with servers in a file.

use serde_json::{Map, Value};

/// The names under which hosts keep their servers, in the order they are looked for.
const NAMES: [&str; 5] = [
    "mcpServers",
    "servers",
    "mcp_servers",
    "mcp",
    "context_servers",
];

/// The servers of one part of a file.
pub(super) struct Section<'a> {
    /// The folder of the project that the servers are for, in a file with servers of several projects.
    pub(super) scope: Option<&'a str>,
    pub(super) servers: Vec<(String, &'a Value)>,
}

/// All sections of a file. `None` if the file is not a list of servers.
pub(super) fn sections<'a>(document: &'a Value) -> Option<Vec<Section<'a>>> {
    let root = document.as_object()?;
    let mut found: Vec<Section<'a>> = servers(root)
        .map(|servers| Section {
            scope: None,
            servers,
        })
        .into_iter()
        .collect();
    // Claude Code has one file for all projects, in which each project has its own servers.
    if let Some(Value::Object(projects)) = root.get("projects") {
        for (folder, project) in projects {
            let inside = project.as_object().and_then(servers);
            if let Some(servers) = inside.filter(|servers| !servers.is_empty()) {
                found.push(Section {
                    scope: Some(folder),
                    servers,
                });
            }
        }
    }
    let is_config = !found.is_empty() || root.is_empty() || root.contains_key("projects");
    is_config.then_some(found)
}

fn servers(parent: &Map<String, Value>) -> Option<Vec<(String, &Value)>> {
    NAMES.iter().find_map(|name| {
        let section = parent.get(*name)?;
        match section {
            // The settings of VS Code have one more level: `"mcp": {"servers": {…}}`.
            Value::Object(nested) if *name == "mcp" && is_servers_only(nested) => servers(nested),
            Value::Object(entries) => Some(
                entries
                    .iter()
                    .map(|(name, entry)| (name.clone(), entry))
                    .collect(),
            ),
            // Some hosts write a list in which each entry has its name.
            Value::Array(entries) => Some(entries.iter().enumerate().map(named).collect()),
            _ => None,
        }
    })
}

fn named((index, entry): (usize, &Value)) -> (String, &Value) {
    let name = entry.get("name").and_then(Value::as_str);
    let name = name.map_or_else(|| format!("server-{}", index + 1), str::to_owned);
    (name, entry)
}

fn is_servers_only(nested: &Map<String, Value>) -> bool {
    nested.get("servers").is_some_and(Value::is_object)
        && nested.keys().all(|key| key == "servers" || key == "inputs")
}
