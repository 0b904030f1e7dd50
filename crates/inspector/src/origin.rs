//! The origin and address of a server, and the settings of its connection.

use serde::Deserialize;
use turnbuckle::Revision;
use turnbuckle_command_line::{
    shell,
    target::{EraName, Options},
};
use turnbuckle_host::config::Launch;

/// What a connection is held to.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Pin {
    pub(super) revision: Option<Revision>,
    pub(super) era: Option<EraName>,
}

impl Pin {
    /// What the command line says.
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

/// How a server came to be known.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where from, as a person would say it.
    pub(super) from: String,
    /// What a command line calls it, if it has a name there.
    pub(super) word: Option<String>,
}

impl Origin {
    /// It was given whole: as a URL or as a command.
    pub fn given(from: &str) -> Self {
        Self {
            from: from.to_owned(),
            word: None,
        }
    }

    /// It is in a config file, under this name.
    pub fn configured(from: impl Into<String>, word: &str) -> Self {
        Self {
            from: from.into(),
            word: Some(word.to_owned()),
        }
    }
}

/// Where a server is, as a person would write it. The query of a URL may hold a secret.
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
