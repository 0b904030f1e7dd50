//! The servers of a host, collected from config files and code.

use std::{fmt, path::PathBuf, sync::Arc};

use indexmap::IndexMap;

use crate::{
    config::{ConfigError, ConfigFiles, Entry, Variables},
    fleet::ServerSpec,
    id::ServerId,
};

/// A note about a config file for the user, from [`Host::notes`](crate::Host::notes) and
/// [`Reloaded::notes`](crate::Reloaded::notes). Its `Display` is one line that begins with the file
/// and the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigNote {
    /// The file that the note is about, if any.
    pub file: Option<PathBuf>,
    /// The server that the note is about, if any.
    pub server: Option<ServerId>,
    /// The note: a key without effect, an entry that cannot be used, or a name that is already used.
    pub text: String,
}

impl fmt::Display for ConfigNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if let Some(server) = &self.server {
            write!(f, "server `{server}`: ")?;
        }
        f.write_str(&self.text)
    }
}

/// Whether tools that a file approves are called without asking the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approvals {
    Reported,
    Trusted,
}

/// The sources of a host's servers.
pub(super) struct Plan {
    pub(super) files: Vec<PathBuf>,
    pub(super) variables: Arc<dyn Variables + Send + Sync>,
    pub(super) approvals: Approvals,
    /// Servers that were added in code.
    pub(super) own: Vec<(ServerId, ServerSpec)>,
    /// Single entries of config files that were added in code.
    pub(super) entries: Vec<Entry>,
}

type Servers = IndexMap<ServerId, ServerSpec>;

impl Plan {
    /// Reads all files again.
    ///
    /// # Errors
    /// [`ConfigError`] if one of the files cannot be read: the plan is read completely or not at all.
    pub(super) fn read(&self) -> Result<(Servers, Vec<ConfigNote>), ConfigError> {
        let (mut servers, mut notes) = self.read_own();
        for file in &self.files {
            let config_files = ConfigFiles::only(file)?;
            for (_, entry) in config_files.entries() {
                // If one file has two entries of a name, the entry of the project is nearer.
                let is_nearest = config_files
                    .find(&entry.name)
                    .is_ok_and(|found| found.entry.scope == entry.scope);
                let id = ServerId::new(entry.name.as_str());
                if servers.contains_key(&id) || !is_nearest {
                    notes.push(about(
                        entry,
                        "another server has the same name; this entry is not used",
                    ));
                    continue;
                }
                let spec = self.spec(entry, &mut notes);
                servers.insert(id, spec);
            }
        }
        Ok((servers, notes))
    }

    /// Removes a server that was added in code.
    pub(super) fn forget(&mut self, id: &ServerId) {
        self.own.retain(|(other, _)| other != id);
        self.entries.retain(|entry| entry.name != id.as_str());
    }

    /// The servers that were added in code.
    pub(super) fn read_own(&self) -> (Servers, Vec<ConfigNote>) {
        let mut servers: Servers = self.own.iter().cloned().collect();
        let mut notes = Vec::new();
        for entry in &self.entries {
            let mut spec = self.spec(entry, &mut notes);
            spec.is_enabled = true;
            servers.insert(ServerId::new(entry.name.as_str()), spec);
        }
        (servers, notes)
    }

    fn spec(&self, entry: &Entry, notes: &mut Vec<ConfigNote>) -> ServerSpec {
        let mut settings = entry.read_settings();
        for not in &settings.not_honoured {
            let text = format!("the key `{}` has no effect: {}", not.key, not.reason);
            notes.push(about(entry, text));
        }
        if self.approvals == Approvals::Reported && !settings.approved_tools.is_empty() {
            let tools = settings.approved_tools.join("`, `");
            let text = format!(
                "the file approves `{tools}`, which has no effect: an entry in a file is not consent; allow the \
                 tools when asked, or trust the approvals of files"
            );
            notes.push(about(entry, text));
            settings.approved_tools.clear();
        }
        let spec = match entry.launch(&*self.variables) {
            Ok(launch) => match entry.launch_as_written() {
                Ok(shown) => ServerSpec::from(launch).shown_as(shown),
                // This does not happen: the text is only wrong if the launch is.
                Err(_) => ServerSpec::from(launch),
            },
            Err(error) => {
                notes.push(about(entry, format!("it cannot be used: {error}")));
                ServerSpec::unusable(error.to_string())
            }
        };
        let spec = spec.with_settings(&settings);
        if entry.is_enabled {
            spec
        } else {
            spec.disabled()
        }
    }
}

/// The note for a file that cannot be read.
pub(super) fn note(error: &ConfigError) -> ConfigNote {
    ConfigNote {
        file: None,
        server: None,
        text: turnbuckle_base::error_chain::in_one_line(error),
    }
}

fn about(entry: &Entry, text: impl Into<String>) -> ConfigNote {
    ConfigNote {
        file: Some(entry.file.clone()),
        server: Some(ServerId::new(entry.name.as_str())),
        text: text.into(),
    }
}
