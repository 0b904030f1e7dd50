//! `Entry`: one server of a config file, before variables are expanded.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value};

use super::{EntryError, Launch, Remote, Settings, Unexpanded, Variables, Wire, launch};

/// One server of a config file, as it is written there: variables are not expanded yet. Use
/// [`launch`](Self::launch) to see what it starts, or give it to
/// [`HostBuilder::entry`](crate::HostBuilder::entry).
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id in the file: the key under `mcpServers`, `servers` or the like.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The folder of the project that the entry is for, in files that have servers of several
    /// projects. `None` if the entry is valid everywhere.
    pub scope: Option<String>,
    /// Whether the server is enabled in the file: true unless the file says `enabled: false` or
    /// `disabled: true`. If one of the two is not a boolean, [`launch`](Self::launch) fails.
    pub is_enabled: bool,
    /// All settings of the entry as written, including those that this library does not know.
    pub settings: Map<String, Value>,
    pub(super) fault: Option<EntryError>,
    pub(super) inputs: Arc<Vec<Input>>,
}

/// A value that the user is asked for before a server starts, such as a key or a folder:
/// `${input:id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name in `${input:…}`.
    pub id: String,
    /// The description, for the question to the user.
    pub description: String,
    /// The value to use if the user gives none. Without a default, the user has to give a value.
    pub default: Option<String>,
    /// The allowed values; empty if any value is allowed.
    pub options: Vec<String>,
    /// Whether to hide the value while it is typed, as for a password or a key.
    pub is_secret: bool,
}

impl Entry {
    pub(super) fn new(
        name: String,
        value: &Value,
        file: PathBuf,
        scope: Option<String>,
        inputs: Arc<Vec<Input>>,
    ) -> Self {
        let settings = value.as_object().cloned().unwrap_or_default();
        let fault = if name.trim().is_empty() {
            Some(EntryError::Unnamed)
        } else if value.is_object() {
            wrong_switch(&settings)
        } else {
            Some(EntryError::NotAnObject)
        };
        Self {
            name,
            file,
            scope,
            is_enabled: is_enabled(&settings),
            settings,
            fault,
            inputs,
        }
    }

    /// Reads how the server is started or connected to, with its variables expanded: `${VAR}`,
    /// `${VAR:-default}`, `${env:VAR}` and `${input:id}`. Other text in `${…}` is left unchanged.
    /// Use [`Unexpanded`](super::Unexpanded) to show an entry without its secrets.
    ///
    /// # Errors
    /// [`EntryError`] if a setting of the entry is invalid or names a variable that has no value.
    /// Other entries of the file are not affected.
    pub fn launch(&self, variables: &dyn Variables) -> Result<Launch, EntryError> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => launch::read(&self.settings, &self.inputs, variables),
        }
    }

    /// Reads how the launch is written, to show it: no variable is expanded. Unlike [`launch`](Self::launch) with
    /// [`Unexpanded`], it accepts a URL whose beginning is in a variable.
    ///
    /// # Errors
    /// [`EntryError`] if a setting of the entry is invalid.
    #[doc(hidden)]
    pub fn launch_as_written(&self) -> Result<Launch, EntryError> {
        match self.launch(&Unexpanded) {
            Err(EntryError::NotAUrl { url }) if url.contains("${") => Ok(Launch::Remote(Remote {
                url,
                headers: Vec::new(),
                wire: Wire::Any,
            })),
            read => read,
        }
    }

    /// Reads the other settings of the entry: time limits, included and excluded tools, and the
    /// keys that have no effect here.
    pub fn read_settings(&self) -> Settings {
        Settings::read(&self.settings)
    }

    /// Finds an input that the file declares, by its id; `None` if the file does not declare it.
    pub fn input(&self, id: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.id == id)
    }

    /// The text `file:name`, which identifies this entry among all config files.
    /// [`ConfigFiles::find`](super::ConfigFiles::find) accepts it.
    pub fn address(&self) -> String {
        format!("{}:{}", self.file.display(), self.name)
    }
}

fn is_enabled(settings: &Map<String, Value>) -> bool {
    let flag = |key: &str| settings.get(key).and_then(Value::as_bool);
    flag("enabled").unwrap_or(true) && !flag("disabled").unwrap_or(false)
}

/// The error for an `enabled` or `disabled` that is not a boolean. The server is then not used,
/// because its author may have meant to switch it off.
fn wrong_switch(settings: &Map<String, Value>) -> Option<EntryError> {
    let is_wrong = |key: &&str| settings.get(*key).is_some_and(|value| !value.is_boolean());
    let key = ["enabled", "disabled"].into_iter().find(is_wrong)?;
    Some(EntryError::WrongKind {
        key: key.to_owned(),
        expected: "true or false",
    })
}

/// The inputs that a file declares, in the format of VS Code.
pub(super) fn inputs(document: &Value) -> Vec<Input> {
    let at_root = document.get("inputs");
    let nested = || document.get("mcp").and_then(|mcp| mcp.get("inputs"));
    let declared = at_root.or_else(nested).and_then(Value::as_array);
    declared.into_iter().flatten().filter_map(input).collect()
}

fn input(value: &Value) -> Option<Input> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = text("id")?;
    let options = value.get("options").and_then(Value::as_array);
    Some(Input {
        description: text("description").unwrap_or_else(|| id.clone()),
        id,
        default: text("default"),
        options: options
            .into_iter()
            .flatten()
            .filter_map(|option| option.as_str().or_else(|| option.get("value")?.as_str()))
            .map(str::to_owned)
            .collect(),
        is_secret: value.get("password").and_then(Value::as_bool) == Some(true),
    })
}
