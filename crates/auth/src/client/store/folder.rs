//! The folders of the stores in files: one for each application.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use turnbuckle_base::{private, replace};

use super::place;

/// 1 min: writing a temporary file takes milliseconds, so an older one was left behind.
pub(super) const DRAFT_AGE: Duration = Duration::from_mins(1);

/// The folder of all applications, below the platform's folder for application data.
const ALL: &str = "turnbuckle";

/// The folder of an application's store, below the application's folder.
const TOKENS: &str = "tokens";

/// The folder of an application's store; `None` if the user has no folder for application data.
pub(super) fn of(application: &str) -> Option<PathBuf> {
    let name: String = application
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    Some(place::data_folder()?.join(ALL).join(name).join(TOKENS))
}

/// The applications that have a store, by the names of their folders, sorted.
pub(super) fn applications() -> io::Result<Vec<String>> {
    let Some(all) = place::data_folder() else {
        return Ok(Vec::new());
    };
    let entries = match fs::read_dir(all.join(ALL)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string()
            && entry.path().join(TOKENS).is_dir()
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Creates the folder of a store, or restricts the permissions of an existing one and removes
/// temporary files that were left behind in it.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    make_private(path)?;
    remove_old_drafts(path)
}

/// Creates the folder, or restricts the permissions of an existing one.
fn make_private(path: &Path) -> io::Result<()> {
    private::make_folder(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes temporary files that a process left behind when it was ended, because they contain tokens.
fn remove_old_drafts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_draft = path
            .extension()
            .is_some_and(|ending| ending == replace::DRAFT_ENDING);
        let age = |about: fs::Metadata| about.modified().ok()?.elapsed().ok();
        let age = fs::metadata(&path).ok().and_then(age);
        // A newer one may be in use at this moment.
        if is_draft && age.is_some_and(|age| age > DRAFT_AGE) {
            // Another process may have removed it first.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}
