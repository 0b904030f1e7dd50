//! The folder for files that are kept between runs.

use std::{env, path::PathBuf};

/// The folder for files that the program keeps; `None` if the environment does not name a home directory. The
/// folder may not exist yet.
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
