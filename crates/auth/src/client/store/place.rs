//! The folders in which applications keep a user's data.

use std::env;
use std::path::PathBuf;

/// The folder for application data, if the environment defines one.
pub(super) fn data_folder() -> Option<PathBuf> {
    let home = |name| {
        env::var_os(name)
            .filter(|found| !found.is_empty())
            .map(PathBuf::from)
    };
    if cfg!(windows) {
        return home("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return Some(home("HOME")?.join("Library/Application Support"));
    }
    // XDG base directories: relative paths must be ignored.
    match home("XDG_DATA_HOME").filter(|path| path.is_absolute()) {
        Some(data) => Some(data),
        None => Some(home("HOME")?.join(".local/share")),
    }
}
