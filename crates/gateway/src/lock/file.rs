//! `turnbuckle.lock`: JSON in a fixed order, so that its changes can be reviewed like code.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::pin::Pin;

/// The version of the file format.
const VERSION: u32 = 1;

/// Why the lock file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read.
    Read(PathBuf, io::Error),
    /// The file is not a lock file of this format.
    Malformed(PathBuf, String),
    /// The file cannot be written.
    Write(PathBuf, io::Error),
    /// The gateway has no lock file.
    Off,
}

impl std::fmt::Display for LockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(path, _) => write!(f, "cannot read `{}`", path.display()),
            Self::Malformed(path, reason) => {
                write!(f, "`{}` is not a lock file: {reason}", path.display())
            }
            Self::Write(path, _) => write!(f, "cannot write `{}`", path.display()),
            Self::Off => f.write_str("this gateway has no lock file; set `lock` to use one"),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(_, error) | Self::Write(_, error) => Some(error),
            Self::Malformed(..) | Self::Off => None,
        }
    }
}

/// The approved definitions of all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LockFile {
    version: u32,
    #[serde(default)]
    pub(super) servers: BTreeMap<String, ServerPins>,
}

/// The approved definitions of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ServerPins {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<Pin>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Pin>,
    #[serde(default)]
    pub(super) prompts: BTreeMap<String, Pin>,
}

impl Default for LockFile {
    fn default() -> Self {
        Self {
            version: VERSION,
            servers: BTreeMap::new(),
        }
    }
}

impl LockFile {
    /// Reads a file. A missing file has no entries.
    pub(super) fn open(path: &Path) -> Result<Self, LockError> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(LockError::Read(path.to_owned(), error)),
        };
        let malformed = |reason: String| LockError::Malformed(path.to_owned(), reason);
        let file: Self =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        if file.version != VERSION {
            return Err(malformed(format!(
                "it has version {}, but this program reads version {VERSION}",
                file.version
            )));
        }
        Ok(file)
    }

    /// Writes the file atomically, so that a reader never sees a part of it.
    pub(super) fn save(&self, path: &Path) -> Result<(), LockError> {
        let failed = |error| LockError::Write(path.to_owned(), error);
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|error| failed(io::Error::other(error)))?;
        text.push(b'\n');
        turnbuckle_base::replace::shared(path, |file| file.write_all(&text)).map_err(failed)
    }
}
