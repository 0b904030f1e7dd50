//! Reads skills from the file system, once: the served content is the content that was digested.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::SkillFault;
use crate::{MAX_FILES, MAX_SKILL_BYTES, uri::SKILL_FILE};

/// Levels of nested directories. A deeper nesting is a mistake, not a skill.
const MAX_DEPTH: usize = 32;

pub(super) type Files = BTreeMap<String, Arc<[u8]>>;

/// Every file below a directory, by its relative path. Names that begin with a dot are left out.
pub(super) fn files(root: &Path) -> Result<Files, SkillFault> {
    let mut files = Files::new();
    let mut bytes = 0;
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for (path, name) in entries(&folder)? {
            let inner = format!("{prefix}{name}");
            let kind = fs::symlink_metadata(&path)
                .map_err(unreadable(&path))?
                .file_type();
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((path, format!("{inner}/"), depth + 1));
            } else if kind.is_file() {
                let content = fs::read(&path).map_err(unreadable(&path))?;
                bytes += content.len() as u64;
                files.insert(inner, content.into());
                check(root, files.len(), bytes)?;
            } else {
                return Err(SkillFault::NotPlain { path });
            }
        }
    }
    Ok(files)
}

/// skills: servers SHOULD NOT serve larger skills.
fn check(root: &Path, files: usize, bytes: u64) -> Result<(), SkillFault> {
    let path = || root.to_owned();
    if files > MAX_FILES {
        return Err(SkillFault::TooManyFiles { path: path() });
    }
    if bytes > MAX_SKILL_BYTES {
        return Err(SkillFault::TooLarge { path: path() });
    }
    Ok(())
}

/// Every directory with a `SKILL.md`, with the path that leads to it. A skill inside another skill is
/// found too: it is a separate skill.
pub(super) fn skills(root: &Path) -> Result<Vec<(PathBuf, String)>, SkillFault> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        if !prefix.is_empty() && folder.join(SKILL_FILE).is_file() {
            let parent = prefix.rsplit_once('/').map_or("", |(parent, _)| parent);
            found.push((folder.clone(), parent.to_owned()));
        }
        for (path, name) in entries(&folder)? {
            let kind = fs::symlink_metadata(&path).map_err(unreadable(&path))?;
            if kind.is_dir() && depth < MAX_DEPTH {
                let inner = if prefix.is_empty() {
                    name
                } else {
                    format!("{prefix}/{name}")
                };
                open.push((path, inner, depth + 1));
            }
        }
    }
    if found.is_empty() {
        return Err(SkillFault::NoSkills {
            path: root.to_owned(),
        });
    }
    found.sort();
    Ok(found)
}

/// The entries of a directory whose names do not begin with a dot.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, String)>, SkillFault> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        match name {
            Some(name) if name.starts_with('.') => {}
            Some(name) => entries.push((path.clone(), name.to_owned())),
            None => return Err(SkillFault::BadName { path }),
        }
    }
    Ok(entries)
}

pub(super) fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> SkillFault {
    let path = path.to_owned();
    move |source| SkillFault::Unreadable { path, source }
}
