//! What the words of a command line and of a config file mean.

use std::path::{Path, PathBuf};

/// Whether a word means a file: the file exists, or the word looks like a path.
pub(super) fn is_file(word: &str) -> bool {
    let path = Path::new(word);
    let extension = path.extension().and_then(|extension| extension.to_str());
    path.is_file() || matches!(extension, Some("toml" | "json" | "yaml" | "yml"))
}

/// Expands `~/…` to a path in the home folder.
pub(super) fn home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// A short name: the host of a URL, or the name of a program.
pub(super) fn short_name(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let name = name.split(['/', '?', ':']).next().unwrap_or(name);
    if name.is_empty() { "server" } else { name }.to_owned()
}
