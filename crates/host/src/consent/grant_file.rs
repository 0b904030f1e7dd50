//! The file of grants: TOML that people can read and edit.
//!
//! Several programs may use one file. Each change takes a lock, reads the file again, and replaces
//! it atomically.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;
use turnbuckle_base::{private, replace};

use super::{ActionKind, Grant};

/// The size limit of the file of grants, in bytes. Real files are smaller.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

const HEAD: &str = "\
# What you have allowed servers to do without being asked again.
# Remove an entry to revoke it; running programs notice within a second.
";

/// Why the file of grants cannot be used.
///
/// [`HostBuilder::grants`](crate::HostBuilder::grants) fails with it. If a running host cannot read
/// the file after a change, it logs the error, and no grant is valid until the file can be read. If
/// a new grant cannot be written, it is valid once, and the user is asked again the next time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrantFileError {
    /// The file cannot be read, or is larger than 4 MiB.
    #[error("cannot read the grants in `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file cannot be written, or its lock cannot be taken.
    #[error("cannot write the grants to `{path}`")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not valid TOML, or has an entry that is not a grant. Correct the file or remove
    /// it.
    #[error("the grants in `{path}` are not valid: {problem}; correct the file or remove it")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line number, and the problem.
        problem: String,
    },
}

/// Identifies a version of the file: its modification time and size.
pub(super) type Stamp = (SystemTime, u64);

#[derive(Deserialize)]
struct GrantDocument {
    #[serde(default)]
    grant: Vec<GrantEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantEntry {
    server: String,
    allow: String,
    #[serde(default)]
    subject: String,
    launch: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    since: String,
}

/// The stamp of the file's current version; `None` if there is no file.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Reads the file. A missing file has no grants.
pub(super) fn read(path: &Path) -> Result<Vec<Grant>, GrantFileError> {
    let unreadable = |source| GrantFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
        Ok(metadata) if metadata.len() > MAX_BYTES => {
            let error = format!("it has more than {MAX_BYTES} bytes");
            return Err(unreadable(io::Error::other(error)));
        }
        Ok(_) => {}
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let malformed = |problem: String| GrantFileError::Malformed {
        path: path.to_owned(),
        problem,
    };
    let document: GrantDocument = toml::from_str(&text).map_err(|error| {
        // Take only the message: the whole error shows the source text over several lines.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| 1 + before.matches('\n').count());
        malformed(format!("line {line}: {}", error.message()))
    })?;
    document
        .grant
        .into_iter()
        .map(|entry| {
            let kind = ActionKind::parse(&entry.allow)
                .ok_or_else(|| malformed(format!("`allow = \"{}\"` is unknown", entry.allow)))?;
            Ok(Grant {
                server: entry.server,
                kind,
                subject: entry.subject,
                launch: entry.launch,
                tool: entry.tool,
                since: entry.since,
            })
        })
        .collect()
}

/// Changes the file. Returns its new grants and its new stamp.
pub(super) fn update(
    path: &Path,
    change: impl FnOnce(&mut Vec<Grant>),
) -> Result<(Vec<Grant>, Option<Stamp>), GrantFileError> {
    let unwritable = |source| GrantFileError::Unwritable {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    // The file itself is replaced, so the lock is on a separate file beside it.
    let lock = private::lock_file(&beside(path, "lock")).map_err(unwritable)?;
    lock.lock().map_err(unwritable)?;
    let mut grants = read(path)?;
    change(&mut grants);
    replace::private(path, text(&grants).as_bytes()).map_err(unwritable)?;
    // Read the stamp before the lock is released: afterwards another program may have changed the file.
    let stamp = stamp(path);
    drop(lock);
    Ok((grants, stamp))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn text(grants: &[Grant]) -> String {
    let mut text = HEAD.to_owned();
    for grant in grants {
        let _ = write!(
            text,
            "\n[[grant]]\nserver = {}\nallow = {}\n",
            quoted(&grant.server),
            quoted(grant.kind.as_str())
        );
        if !grant.subject.is_empty() {
            let _ = writeln!(text, "subject = {}", quoted(&grant.subject));
        }
        if let Some(launch) = &grant.launch {
            let _ = writeln!(text, "launch = {}", quoted(launch));
        }
        if let Some(tool) = &grant.tool {
            let _ = writeln!(text, "tool = {}", quoted(tool));
        }
        let _ = writeln!(text, "since = {}", quoted(&grant.since));
    }
    text
}

/// Writes a text as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
