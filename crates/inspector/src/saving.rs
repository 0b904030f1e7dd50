//! Saves servers from the page's form to a config file of Turnbuckle.
//!
//! Files of other programs are never written. The existing content of a file stays unchanged; the server is added at
//! its end, and nothing is written that could not be read again.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    trust::{self, Consent},
};
use turnbuckle_host::config::{File, Places};

use super::{config_files::read_form, inspector::Inspector};

/// Where a server is saved.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum SaveTo {
    /// `turnbuckle.toml` in the folder that the inspector was started in.
    Project,
    /// `turnbuckle/servers.toml` among the user's settings.
    User,
}

impl SaveTo {
    fn path(self) -> Outcome<PathBuf> {
        let places = Places::of_process();
        match self {
            Self::Project => Ok(places.folder.join("turnbuckle.toml")),
            Self::User => {
                let settings = places.settings;
                let settings = settings.ok_or_else(|| Failed::usage("no home folder was found"))?;
                Ok(settings.join("turnbuckle/servers.toml"))
            }
        }
    }
}

impl Inspector {
    /// Saves a server from the page's form, and adds the server as it is in the file. Values of inputs are only kept in
    /// memory.
    pub(super) fn save_form(
        self: &Arc<Self>,
        name: &str,
        document: &str,
        inputs: BTreeMap<String, String>,
        to: SaveTo,
    ) -> Outcome<String> {
        let is_taken = self.lock().servers.iter().any(|server| server.name == name);
        if is_taken {
            let said = format!("server `{name}` already exists; give this one another name");
            return Err(Failed::usage(said));
        }
        // A server that cannot be used is not saved.
        read_form(document, inputs.clone())?;
        let path = to.path()?;
        if let Some(only) = &self.options.config
            && !is_same_file(only, &path)
        {
            let said = format!(
                "`{}` would not be used: the inspector was started with `--config {}`",
                path.display(),
                only.display()
            );
            return Err(Failed::usage(said).hint("start the inspector without `--config`"));
        }
        let was_trusted = !path.exists() || trust::is_trusted(&path);
        append(&path, name, document)?;
        if to == SaveTo::Project && was_trusted {
            trust::check(&path, Consent::Given)?;
        }
        self.read_config()?;
        let known = self.known_entry(&path, name);
        let (id, ..) = known.ok_or_else(|| {
            let said = format!(
                "`{}` was written, but the inspector does not read this config file",
                path.display()
            );
            Failed::usage(said).hint("start the inspector without `--config`")
        })?;
        if !inputs.is_empty() {
            self.give_inputs(&id, inputs).unwrap_or(Ok(()))?;
        }
        Ok(id)
    }
}

/// Whether two paths lead to the same file. If one does not exist yet, the paths are compared as text.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Adds a server to a file, which is created if it does not exist.
fn append(path: &Path, name: &str, document: &str) -> Outcome {
    let failed =
        |error: io::Error| Failed::usage(format!("cannot write `{}`: {error}", path.display()));
    let mut text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let before = File::parse(path, &text).map_err(Failed::usage)?;
    if before.entries.iter().any(|entry| entry.name == name) {
        let said = format!("`{}` already has a server `{name}`", path.display());
        return Err(Failed::usage(said).hint("give this one another name"));
    }
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&table(name, document)?);
    let after = File::parse(path, &text).map_err(Failed::usage)?;
    if after.entries.len() != before.entries.len() + 1 {
        let said = format!("cannot add the server to the text of `{}`", path.display());
        return Err(Failed::usage(said).hint("add the server by hand"));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    turnbuckle_base::replace::shared(path, |file| file.write_all(text.as_bytes())).map_err(failed)
}

/// A server as TOML, with the inputs that it refers to. JSON strings are valid TOML strings too.
fn table(name: &str, document: &str) -> Outcome<String> {
    let document: Value = serde_json::from_str(document).map_err(Failed::usage)?;
    let entry = document["mcpServers"][name].as_object();
    let entry = entry.ok_or_else(|| Failed::usage("no server was described"))?;
    let mut text = format!("[servers.{}]\n", json!(name));
    for (key, value) in entry {
        let _ = writeln!(text, "{key} = {}", written(value));
    }
    for input in document["inputs"].as_array().into_iter().flatten() {
        text.push_str("\n[[inputs]]\n");
        for (key, value) in input.as_object().into_iter().flatten() {
            let _ = writeln!(text, "{key} = {}", written(value));
        }
    }
    Ok(text)
}

fn written(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let pairs = members.map(|(key, value)| format!("{} = {}", json!(key), written(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"mcpServers":{"my \"x\"":{"command":"npx -y a","env":{"A":"b\n"}}},"inputs":[{"id":"k","type":"promptString","password":true}]}"#;

    #[test]
    fn a_server_is_added_at_the_end_and_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("turnbuckle.toml");
        fs::write(
            &path,
            "# mine\n[servers.old]\nurl = \"http://127.0.0.1:1/mcp\"",
        )
        .expect("written");
        append(&path, "my \"x\"", DOCUMENT).expect("added");
        let text = fs::read_to_string(&path).expect("read");
        assert!(text.starts_with("# mine\n[servers.old]\n"), "{text}");
        let file = File::parse(&path, &text).expect("it is whole");
        let names: Vec<_> = file.entries.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["old", "my \"x\""]);
        assert!(append(&path, "old", DOCUMENT).is_err());
    }

    #[test]
    fn a_file_that_nothing_can_be_added_to_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("turnbuckle.toml");
        let text = "servers = { old = { url = \"http://127.0.0.1:1/mcp\" } }\n";
        fs::write(&path, text).expect("written");
        assert!(append(&path, "my \"x\"", DOCUMENT).is_err());
        assert_eq!(fs::read_to_string(&path).expect("read"), text);
    }
}
