//! Config files of projects. They may come from anyone, so they are only used once the user has
//! trusted their content.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use turnbuckle_host::config::{ConfigError, File, Launch, Unexpanded};

use crate::{
    control::{one_line, prompt, tell},
    failure::{Failed, Outcome},
    private, shell,
    state_folder::state_folder,
};

/// What to do with a project's config file that the user has not trusted yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// Ask the user, if there is a terminal.
    #[default]
    Ask,
    /// Trust the file, as the user said on the command line.
    Given,
    /// Ignore the file silently, for commands that only list.
    Never,
}

/// 1 MiB: far more than a config file that a user can review.
const MAX_BYTES: u64 = 1024 * 1024;

/// How many servers of a file are shown before the user agrees.
const MAX_SHOWN: usize = 20;

/// Whether the file and a link to it belong to the user. Always true on systems where files have no owners.
pub fn is_own(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let user = rustix::process::geteuid().as_raw();
        let is_users =
            |about: io::Result<fs::Metadata>| about.is_ok_and(|about| about.uid() == user);
        is_users(fs::symlink_metadata(path)) && is_users(fs::metadata(path))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        true
    }
}

/// Whether the user has trusted the file with its current content.
pub fn is_trusted(path: &Path) -> bool {
    let Some((path, digest)) = identity(path) else {
        return false;
    };
    trusted().get(&path).is_some_and(|known| *known == digest)
}

/// Succeeds if the user has trusted the file with its current content, or trusts it now.
///
/// # Errors
/// If the user does not trust the file, or cannot be asked.
pub fn check(path: &Path, consent: Consent) -> Outcome {
    if is_trusted(path) {
        return Ok(());
    }
    match consent {
        Consent::Given => return remember(path),
        Consent::Ask if io::stdin().is_terminal() && io::stderr().is_terminal() => {
            if ask(path)? {
                return remember(path);
            }
        }
        Consent::Ask | Consent::Never => {}
    }
    let said = format!(
        "`{}` is a config file of a project, and you have not agreed to use it",
        path.display()
    );
    Err(Failed::usage(said).hint(
        "`turnbuckle servers` shows what it starts; `--trust` agrees to it as it is now, \
         `--config FILE` uses another",
    ))
}

/// Shows what the file would start, and asks the user.
fn ask(path: &Path) -> Outcome<bool> {
    tell(&format!(
        "`{}` is a config file of a project, and is new or has changed. It can start, as you:",
        path.display()
    ));
    let entries = match File::open(path) {
        Ok(file) => file.entries,
        // It may have only settings of a gateway.
        Err(ConfigError::NoServers { .. }) => {
            tell("  no server; it has settings only");
            Vec::new()
        }
        Err(error) => return Err(Failed::usage(error)),
    };
    for entry in entries.iter().take(MAX_SHOWN) {
        let what = match entry.launch(&Unexpanded) {
            Ok(launch) => shown(&launch),
            Err(error) => error.to_string(),
        };
        tell(&format!("  {}: {}", one_line(&entry.name), one_line(&what)));
    }
    if entries.len() > MAX_SHOWN {
        tell(&format!("  and {} more", entries.len() - MAX_SHOWN));
    }
    prompt("Use it? [y/N] ");
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(Failed::usage)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes" | "Yes"))
}

fn shown(launch: &Launch) -> String {
    match launch {
        Launch::Command {
            program, arguments, ..
        } => {
            let words = std::iter::once(program).chain(arguments);
            shell::line(words.map(String::as_str))
        }
        Launch::Remote(remote) => remote.url.clone(),
    }
}

/// Stores that the user has trusted the file with its current content.
fn remember(path: &Path) -> Outcome {
    let failed = |error: io::Error| {
        Failed::usage(format!(
            "cannot remember that `{}` is trusted: {error}",
            path.display()
        ))
    };
    let (place, digest) =
        identity(path).ok_or_else(|| failed(io::Error::other("it cannot be read")))?;
    let Some(list) = list() else {
        return Err(failed(io::Error::other("set HOME")));
    };
    let mut all = trusted();
    all.insert(place, digest);
    let text = serde_json::to_vec_pretty(&all).map_err(|error| failed(error.into()))?;
    list.parent()
        .map_or(Ok(()), private::make_folder)
        .and_then(|()| turnbuckle_base::replace::private(&list, &text))
        .map_err(failed)
}

/// The real path of a file, and a digest of its content.
fn identity(path: &Path) -> Option<(String, String)> {
    let place = fs::canonicalize(path).ok()?.to_str()?.to_owned();
    let digest = Sha256::digest(fs::read(path).ok()?);
    let digest = digest.iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    Some((place, digest))
}

/// The files that the user has trusted, with their digests.
fn trusted() -> BTreeMap<String, String> {
    let read = || {
        let list = list()?;
        let is_small = fs::metadata(&list).ok()?.len() <= MAX_BYTES;
        let text = is_small.then(|| fs::read(&list).ok())??;
        serde_json::from_slice(&text).ok()
    };
    read().unwrap_or_default()
}

/// The path of the list of trusted files. It changes when the user trusts a file.
pub fn list() -> Option<PathBuf> {
    Some(state_folder()?.join("trusted.json"))
}
