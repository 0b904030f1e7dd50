//! Restarting servers when files change.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use turnbuckle_host::config::Launch;

use super::{
    inspector::Inspector,
    server::{Entry, Stage},
};

/// How often to check the files: a user who saved a file sees the restart at once.
const LOOK_INTERVAL: Duration = Duration::from_millis(300);

/// How many files are watched; in larger trees, the others are ignored.
const MAX_FILES: usize = 20_000;

/// Folders that programs write to while they run or are built.
const LEFT_OUT: [&str; 4] = ["target", "node_modules", "__pycache__", "venv"];

/// When each file was written, and its size.
type Files = BTreeMap<PathBuf, (SystemTime, u64)>;

impl Inspector {
    /// Restarts the programs among the servers whenever a file at one of these paths changes, until
    /// the inspector ends.
    pub fn watch(self: &Arc<Self>, paths: Vec<PathBuf>) {
        let inspector = self.clone();
        let task = tokio::spawn(async move { inspector.look_for_changes(paths).await });
        let before = self.watching.lock().replace(task.abort_handle());
        if let Some(before) = before {
            before.abort();
        }
    }

    async fn look_for_changes(self: &Arc<Self>, paths: Vec<PathBuf>) {
        let mut known = look(&paths).await;
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let mut now = look(&paths).await;
            let Some(changed) = first_change(&known, &now) else {
                continue;
            };
            // A build writes many files, so the restart waits until they no longer change.
            loop {
                tokio::time::sleep(LOOK_INTERVAL).await;
                let next = look(&paths).await;
                if std::mem::replace(&mut now, next) == now {
                    break;
                }
            }
            known = now;
            self.restart_programs(&changed);
        }
    }

    /// Restarts the programs that were not stopped by hand.
    fn restart_programs(self: &Arc<Self>, changed: &Path) {
        let state = self.lock();
        let is_program = |entry: &&Entry| {
            matches!(entry.server.launch, Launch::Command { .. }) && entry.stage != Stage::Closed
        };
        let programs = state.servers.iter().filter(is_program);
        let ids: Vec<String> = programs.map(|entry| entry.id.clone()).collect();
        drop(state);
        for id in ids {
            self.note(&id, &format!("restarted: `{}` changed", changed.display()));
            self.connect(&id);
        }
    }
}

async fn look(paths: &[PathBuf]) -> Files {
    let paths = paths.to_owned();
    let looked = tokio::task::spawn_blocking(move || {
        let mut files = Files::new();
        for path in &paths {
            collect(path, &mut files);
        }
        files
    });
    looked.await.unwrap_or_default()
}

fn collect(path: &Path, files: &mut Files) {
    if files.len() >= MAX_FILES {
        return;
    }
    let Ok(about) = fs::metadata(path) else {
        return;
    };
    if about.is_file() {
        let written = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        files.insert(path.to_owned(), (written, about.len()));
        return;
    }
    let Ok(inside) = fs::read_dir(path) else {
        return;
    };
    for entry in inside.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link may lead to a folder above.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !name.starts_with('.') && !LEFT_OUT.contains(&&*name) && !is_link {
            collect(&entry.path(), files);
        }
    }
}

/// A file that is new, removed or changed.
fn first_change(before: &Files, now: &Files) -> Option<PathBuf> {
    let differs =
        |(path, about): &(&PathBuf, &(SystemTime, u64))| before.get(*path) != Some(*about);
    let changed = now.iter().find(differs);
    let gone = || before.iter().find(|(path, _)| !now.contains_key(*path));
    changed.or_else(gone).map(|(path, _)| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_found_and_build_folders_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src")).unwrap();
        fs::create_dir_all(at("target")).unwrap();
        fs::write(at("src/a.py"), "1").unwrap();
        let read = || {
            let mut files = Files::new();
            collect(folder.path(), &mut files);
            files
        };
        let before = read();
        fs::write(at("target/out"), "1").unwrap();
        fs::write(at(".hidden"), "1").unwrap();
        assert_eq!(first_change(&before, &read()), None);
        fs::write(at("src/b.py"), "1").unwrap();
        assert_eq!(first_change(&before, &read()), Some(at("src/b.py")));
        let more = read();
        fs::remove_file(at("src/b.py")).unwrap();
        assert_eq!(first_change(&more, &read()), Some(at("src/b.py")));
        fs::write(at("src/a.py"), "22").unwrap();
        assert_eq!(first_change(&before, &read()), Some(at("src/a.py")));
    }
}
