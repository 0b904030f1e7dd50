//! Servers of config files: their inputs, and problems with them.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;
use turnbuckle_command_line::{
    failure::Outcome,
    target::{self, Lookup, Server, WithInputs},
};
use turnbuckle_host::config::{self, Unexpanded};

/// An entry of a config file or of the page's form, with the values of its inputs.
pub(super) struct Configured {
    pub(super) entry: config::Entry,
    /// The file that names are looked up in, if the command line names one.
    pub(super) config: Option<PathBuf>,
    /// The values of inputs, which are only kept in memory.
    pub(super) inputs: BTreeMap<String, String>,
    /// Another name from the page, because another file has a server with the same name.
    pub(super) alias: Option<String>,
}

/// The server of an entry.
pub(super) struct Resolved {
    pub(super) server: Server,
    pub(super) blocked: Option<Blocked>,
    pub(super) inputs: Vec<InputView>,
}

/// Why a server cannot be connected to.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Blocked {
    /// A value for an input is missing.
    Inputs,
    /// A file that is read earlier has a server with this name.
    Shadowed { by: String },
    /// The file belongs to a project, and the user has not trusted it.
    Untrusted { file: PathBuf },
    /// The file has disabled it.
    Disabled,
    /// The entry cannot be used.
    Unusable { message: String },
}

impl Blocked {
    pub(super) fn said(&self) -> String {
        match self {
            Self::Inputs => "an input is missing; enter it first".to_owned(),
            Self::Shadowed { by } => format!("the name is taken by a server of `{by}`"),
            Self::Untrusted { file } => {
                format!("`{}` is not trusted yet", file.display())
            }
            Self::Disabled => "the config file disables it".to_owned(),
            Self::Unusable { message } => message.clone(),
        }
    }
}

/// An input as the page asks for it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputView {
    id: String,
    description: String,
    default: Option<String>,
    options: Vec<String>,
    is_secret: bool,
    has_value: bool,
}

/// A config file as the page shows it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FileView {
    /// The path, as in the sources of servers.
    pub(super) file: String,
    /// The program that it belongs to.
    pub(super) host: &'static str,
    /// Why it cannot be read, if so.
    pub(super) problem: Option<String>,
}

impl Resolved {
    /// Whether nothing is missing, and the program exists.
    pub(super) fn is_usable(&self) -> bool {
        self.blocked.is_none() && self.server.can_be_found()
    }
}

impl Configured {
    /// The server that the entry describes, and what it lacks.
    pub(super) fn resolve(&self) -> Outcome<Resolved> {
        let variables = WithInputs {
            given: self.inputs.clone(),
            ..WithInputs::default()
        };
        let (entry, config) = (&self.entry, self.config.as_ref());
        let as_written = || {
            let written =
                target::configured_with(entry, &entry.name, config, (&Unexpanded, &Unexpanded));
            written.or_else(|_| {
                // Nothing can be started, so only the name is shown.
                let words = [entry.name.clone()];
                target::split(&[], &words, Lookup::default()).map(|(server, _)| server)
            })
        };
        let usable = target::configured_with(entry, &entry.name, config, (&variables, &Unexpanded));
        let inputs: Vec<InputView> = variables
            .wanted
            .into_inner()
            .into_iter()
            .map(|(input, has_value)| InputView {
                id: input.id,
                description: input.description,
                default: input.default,
                options: input.options,
                is_secret: input.is_secret,
                has_value,
            })
            .collect();
        let is_missing = inputs.iter().any(|input| !input.has_value);
        let (server, blocked) = match usable {
            Ok(server) => (server, is_missing.then_some(Blocked::Inputs)),
            Err(error) => {
                let message = error.to_string();
                (as_written()?, Some(Blocked::Unusable { message }))
            }
        };
        let blocked = if entry.is_enabled {
            blocked
        } else {
            Some(Blocked::Disabled)
        };
        Ok(Resolved {
            server,
            blocked,
            inputs,
        })
    }
}
