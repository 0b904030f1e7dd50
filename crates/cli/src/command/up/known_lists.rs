//! The folder with the lists of servers, which the gateway offers before the servers have started.
//!
//! The name of a file is a digest of how its server is reached, and only its owner can read it. Lists that a server
//! gives for the credentials of one caller are not stored.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use turnbuckle_command_line::state_folder::state_folder;

/// How long stored lists are kept if they do not change or are no longer used.
const KEPT_FOR: Duration = Duration::from_hours(90 * 24);

/// How many files there may be: more than a user has servers.
const MAX_FILES: usize = 512;

/// The folder, without files that are too old.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = state_folder()?.join("lists");
    tidy(&folder, SystemTime::now(), MAX_FILES);
    Some(folder)
}

/// Deletes files that are too old, and the oldest if there are too many. Errors are ignored.
fn tidy(folder: &Path, now: SystemTime, most: usize) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let too_many = files.len().saturating_sub(most);
    for (number, (written, path)) in files.iter().enumerate() {
        let age = now.duration_since(*written).unwrap_or_default();
        if number < too_many || age > KEPT_FOR {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_and_too_many_files_are_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = SystemTime::now();
        let file = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            let file = fs::File::create(&path).expect("a file");
            file.set_modified(now - age).expect("a time");
            path
        };
        let hours = |hours| Duration::from_hours(hours);
        let old = file("old.json", KEPT_FOR + hours(1));
        let (older, newer) = (file("older.json", hours(2)), file("newer.json", hours(1)));
        let other = file("other.txt", KEPT_FOR + hours(1));
        tidy(folder.path(), now, 2);
        assert!(!old.exists() && older.exists() && newer.exists() && other.exists());
        tidy(folder.path(), now, 1);
        assert!(!older.exists() && newer.exists());
    }
}
