//! The folder for files that are kept from one run to the next.

use std::{env, path::PathBuf};

/// The folder for what the program remembers; `None` if the environment names no home. It may not be
/// there yet.
pub fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let given = env::var_os(name).map(PathBuf::from);
        given.filter(|path| path.is_absolute())
    };
    let state = if cfg!(windows) {
        folder("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        folder("HOME")?.join("Library/Application Support")
    } else {
        folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?
    };
    Some(state.join("turnbuckle"))
}
