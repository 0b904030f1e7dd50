//! The lists of a server, unchanged.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use turnbuckle::{Connection, protocol::json_problem};

use super::{
    problem::{Problem, Who},
    raw::Raw,
};

/// How many pages are read: a list with more pages probably never ends.
const MAX_PAGES: usize = 1_000;

/// How many entries of one list are kept: ten times what the page is made for.
const MAX_LISTED: usize = 100_000;

/// The lists of a server.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offer {
    pub(super) tools: Vec<Raw>,
    pub(super) prompts: Vec<Raw>,
    resources: Vec<Raw>,
    resource_templates: Vec<Raw>,
    problems: Vec<Unlisted>,
}

/// A list that could not be read.
#[derive(Debug, Serialize)]
struct Unlisted {
    list: &'static str,
    error: Problem,
}

/// The name and schemas of a tool.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Schemas {
    name: String,
    pub(super) input_schema: Option<Value>,
    pub(super) output_schema: Option<Value>,
}

impl Offer {
    /// Requests the lists of a server.
    pub(super) async fn ask(connection: &Connection) -> Self {
        let can = connection.server().capabilities();
        // If the server does not declare capabilities, all lists are requested.
        let has =
            |list: fn(&turnbuckle::protocol::ServerCapabilities) -> bool| can.is_none_or(list);
        // Requested concurrently: this takes only as long as the slowest list.
        let (tools, prompts, resources, templates) = tokio::join!(
            Listed::ask(connection, "tools", has(|can| can.tools.is_some())),
            Listed::ask(connection, "prompts", has(|can| can.prompts.is_some())),
            Listed::ask(connection, "resources", has(|can| can.resources.is_some())),
            Listed::ask(
                connection,
                "resourceTemplates",
                has(|can| can.resources.is_some())
            ),
        );
        let problems = [
            tools.problem,
            prompts.problem,
            resources.problem,
            templates.problem,
        ];
        Self {
            tools: tools.items,
            prompts: prompts.items,
            resources: resources.items,
            resource_templates: templates.items,
            problems: problems.into_iter().flatten().collect(),
        }
    }

    /// The size as text, in bytes.
    pub(super) fn size(&self) -> usize {
        let lists = [
            &self.tools,
            &self.prompts,
            &self.resources,
            &self.resource_templates,
        ];
        let items = lists.into_iter().flatten();
        items.map(|item| item.text().len()).sum()
    }

    /// The schemas of a tool.
    pub(super) fn tool(&self, name: &str) -> Option<Schemas> {
        let mut tools = self.tools.iter();
        tools.find_map(|tool| {
            // This is cheaper than parsing every schema.
            let is_likely = tool.text().contains(name) || tool.text().contains('\\');
            let schemas: Schemas = is_likely
                .then(|| serde_json::from_str(tool.text()).ok())
                .flatten()?;
            (schemas.name == name).then_some(schemas)
        })
    }

    /// The argument names of a prompt, as a schema.
    pub(super) fn prompt(&self, name: &str) -> Option<Value> {
        #[derive(Deserialize)]
        struct Prompt {
            name: String,
            #[serde(default)]
            arguments: Vec<Argument>,
        }
        #[derive(Deserialize)]
        struct Argument {
            name: String,
        }
        let mut prompts = self.prompts.iter();
        let prompt = prompts.find_map(|prompt| {
            let prompt: Prompt = serde_json::from_str(prompt.text()).ok()?;
            (prompt.name == name).then_some(prompt)
        })?;
        let names = prompt.arguments.into_iter();
        let properties: serde_json::Map<String, Value> = names
            .map(|argument| (argument.name, serde_json::json!({"type": "string"})))
            .collect();
        Some(serde_json::json!({ "properties": properties }))
    }
}

/// One list, as far as it could be read.
#[derive(Default)]
struct Listed {
    items: Vec<Raw>,
    problem: Option<Unlisted>,
}

impl Listed {
    async fn ask(connection: &Connection, list: &'static str, is_offered: bool) -> Self {
        let mut items = Vec::new();
        if !is_offered {
            return Self::default();
        }
        let read = pages(connection, list, &mut items).await;
        let problem = read.err().map(|error| Unlisted { list, error });
        Self { items, problem }
    }
}

/// All pages of a list, with every entry as it was sent.
async fn pages(
    connection: &Connection,
    list: &'static str,
    listed: &mut Vec<Raw>,
) -> Result<(), Problem> {
    let method = match list {
        "resourceTemplates" => "resources/templates/list".to_owned(),
        list => format!("{list}/list"),
    };
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map(|cursor| {
            let params = serde_json::json!({ "cursor": cursor });
            Raw::of(&params).to_box()
        });
        let page = connection.request_raw(method.clone(), params).await;
        let page = page.map_err(|error| Problem::from(&error))?;
        let (items, next) = read(&page, list)?;
        listed.extend(items);
        match next {
            Some(next) if listed.len() < MAX_LISTED => cursor = Some(next),
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn read(page: &RawValue, list: &str) -> Result<(Vec<Raw>, Option<String>), Problem> {
    let malformed = |problem: &str| {
        let message = format!("the list of {list} cannot be read: {problem}");
        Problem::new(Who::Protocol, message)
    };
    let unreadable = |error: &serde_json::Error| malformed(&json_problem::describe(error));
    let members: std::collections::HashMap<String, Box<RawValue>> =
        serde_json::from_str(page.get()).map_err(|error| unreadable(&error))?;
    let items = members
        .get(list)
        .ok_or_else(|| malformed("the member is missing"))?;
    let items: Vec<Box<RawValue>> =
        serde_json::from_str(items.get()).map_err(|error| unreadable(&error))?;
    let next = members
        .get("nextCursor")
        .and_then(|next| serde_json::from_str(next.get()).ok());
    Ok((items.into_iter().map(Raw::from).collect(), next))
}
