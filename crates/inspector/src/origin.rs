//! Where a server comes from, its address, and the settings of its connection.

use serde::Deserialize;
use turnbuckle::Revision;
use turnbuckle_command_line::{
    shell,
    target::{EraName, Options},
};
use turnbuckle_host::config::Launch;

/// The revision or era that a connection must use.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Pin {
    pub(super) revision: Option<Revision>,
    pub(super) era: Option<EraName>,
}

impl Pin {
    /// The settings of the command line.
    pub(super) fn of(options: &Options) -> Self {
        Self {
            revision: options.revision,
            era: options.era,
        }
    }

    pub(super) fn says_something(self) -> bool {
        self.revision.is_some() || self.era.is_some()
    }
}

/// Where a server comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The source, as text for people.
    pub(super) from: String,
    /// Its name on a command line, if it has one.
    pub(super) word: Option<String>,
}

impl Origin {
    /// A server that was given as a URL or as a command.
    pub fn given(from: &str) -> Self {
        Self {
            from: from.to_owned(),
            word: None,
        }
    }

    /// A server in a config file, under this name.
    pub fn configured(from: impl Into<String>, word: &str) -> Self {
        Self {
            from: from.into(),
            word: Some(word.to_owned()),
        }
    }
}

/// The address of a server as people write it. The query of a URL is left out, because it may contain a secret.
pub(super) fn shown(launch: &Launch) -> String {
    match launch {
        Launch::Command {
            program, arguments, ..
        } => {
            let words = std::iter::once(program).chain(arguments);
            shell::line(words.map(String::as_str))
        }
        Launch::Remote(remote) => {
            let url = remote.url.split(['?', '#']).next().unwrap_or_default();
            match url.split_once("://") {
                Some((scheme, rest)) => {
                    let (host, path) = rest.split_once('/').map_or((rest, ""), |parts| parts);
                    let host = host.rsplit('@').next().unwrap_or_default();
                    format!("{scheme}://{host}/{path}")
                }
                None => url.to_owned(),
            }
        }
    }
}
