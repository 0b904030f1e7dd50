//! `File`: a parsed config file.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{ConfigError, Entry, Format, entry, section};

/// A config file with servers in it, in the format of any of the supported hosts: `mcpServers`,
/// `servers`, `mcp_servers`, `mcp` or `context_servers`, in JSON, TOML or YAML.
#[derive(Clone, Debug)]
pub struct File {
    /// The path, as it was given.
    pub path: PathBuf,
    /// Its servers, in the order of the file.
    pub entries: Vec<Entry>,
}

/// The size limit of a config file, in bytes. Real config files are smaller; a larger file was
/// named by mistake.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

impl File {
    /// Reads a file from disk. It starts no server and expands no variables.
    ///
    /// # Errors
    /// [`ConfigError`] if the file does not exist, is larger than 16 MiB, is malformed, or has no
    /// list of servers. A problem of a single entry is reported when that entry is used.
    pub fn open(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let bytes = fs::metadata(path).map_err(unreadable)?.len();
        if bytes > MAX_BYTES {
            return Err(ConfigError::TooLarge {
                path: path.to_owned(),
                bytes,
                limit: MAX_BYTES,
            });
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(path, &text)
    }

    /// Reads the text of a file; `path` determines its format and is named in errors.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let format = Format::of(path);
        let document = format
            .parse(text)
            .map_err(|problem| ConfigError::Malformed {
                path: path.to_owned(),
                format: format.name(),
                problem,
            })?;
        let inputs = Arc::new(entry::inputs(&document));
        let sections = section::sections(&document).ok_or_else(|| ConfigError::NoServers {
            path: path.to_owned(),
        })?;
        let entries = sections.into_iter().flat_map(|section| {
            let scope = section.scope.map(str::to_owned);
            let inputs = Arc::clone(&inputs);
            section.servers.into_iter().map(move |(name, value)| {
                Entry::new(
                    name,
                    value,
                    path.to_owned(),
                    scope.clone(),
                    Arc::clone(&inputs),
                )
            })
        });
        Ok(Self {
            path: path.to_owned(),
            entries: entries.collect(),
        })
    }
}
