//! One skill.

use std::{borrow::Cow, path::Path, sync::Arc};

use turnbuckle_protocol::JsonObject;

use super::{SkillFault, open};
use crate::{
    Digest, Frontmatter, MAX_FILES, MAX_SKILL_BYTES, SkillEntry, SkillFile, SkillResources,
    uri::{self, SKILL_FILE},
};

/// A skill on a server: a `SKILL.md`, and the files that it refers to.
#[derive(Clone, Debug)]
pub struct Skill {
    prefix: String,
    pub(super) files: open::Files,
    pub(super) problems: Vec<String>,
}

impl Skill {
    /// Reads a skill from its directory, which must have the name of the skill. All its files are
    /// served, except those whose names begin with a dot.
    ///
    /// The files are read once: later changes are served only after a restart of the server.
    ///
    /// # Errors
    /// [`SkillFault`] names the file that caused it.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, SkillFault> {
        let path = directory.as_ref();
        let files = open::files(path)?;
        let skill_file = path.join(SKILL_FILE);
        let bytes = files.get(SKILL_FILE).ok_or_else(|| SkillFault::NoSkills {
            path: path.to_owned(),
        })?;
        let text = String::from_utf8_lossy(bytes);
        let name = match Frontmatter::parse(&text) {
            Ok(parsed) => name_of(&parsed.fields),
            Err(problem) => {
                return Err(SkillFault::BadSkill {
                    path: skill_file,
                    problem,
                });
            }
        };
        // A path such as `.` has no name of its own.
        let whole = path.canonicalize().map_err(open::unreadable(path))?;
        if whole.file_name().is_none_or(|folder| *folder != *name) {
            return Err(SkillFault::Misnamed {
                path: path.to_owned(),
                name,
            });
        }
        Ok(Self {
            prefix: String::new(),
            files,
            problems: Vec::new(),
        })
    }

    /// Creates a skill whose `SKILL.md` is part of the program.
    pub fn embedded(skill_md: impl Into<Cow<'static, str>>) -> Self {
        let text = skill_md.into();
        let problems = match Frontmatter::parse(&text) {
            Ok(_) => Vec::new(),
            Err(problem) => vec![format!("an embedded `{SKILL_FILE}`: {problem}")],
        };
        let content = Arc::from(text.as_bytes());
        Self {
            prefix: String::new(),
            files: open::Files::from([(SKILL_FILE.to_owned(), content)]),
            problems,
        }
    }

    /// Adds a file, by its path relative to the skill's directory.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        match uri::within(path) {
            Some(path) if path != SKILL_FILE => {
                let is_new = self.files.insert(path.clone(), Arc::from(content.as_ref()));
                if is_new.is_some() {
                    self.problems.push(format!("there are two files `{path}`"));
                }
            }
            _ => self
                .problems
                .push(format!("`{path}` is not a path below a skill's directory")),
        }
        self
    }

    /// Puts the skill under a path, such as `acme/billing`.
    pub fn under(mut self, prefix: &str) -> Self {
        match uri::within(prefix) {
            Some(prefix) => self.prefix = prefix,
            None if prefix.is_empty() => self.prefix.clear(),
            None => self
                .problems
                .push(format!("`{prefix}` is not a valid path for skills")),
        }
        self
    }

    /// Its directory's URI and its entry, if the skill can be served; otherwise the first problem.
    pub(super) fn entry(&self) -> Result<(String, SkillEntry), String> {
        if let Some(problem) = self.problems.first() {
            return Err(problem.clone());
        }
        let bytes: u64 = self
            .files
            .values()
            .map(|content| content.len() as u64)
            .sum();
        if self.files.len() > MAX_FILES || bytes > MAX_SKILL_BYTES {
            return Err(format!(
                "a skill has at most {MAX_FILES} files and {MAX_SKILL_BYTES} bytes: split it"
            ));
        }
        let text = self
            .files
            .get(SKILL_FILE)
            .map(|content| String::from_utf8_lossy(content));
        let text = text.unwrap_or_default();
        let parsed = Frontmatter::parse(&text).map_err(|problem| problem.to_string())?;
        let name = name_of(&parsed.fields);
        let path = if self.prefix.is_empty() {
            name
        } else {
            format!("{}/{name}", self.prefix)
        };
        let root = format!("skill://{}", uri::encode(&path));
        let file = |(path, content): (&String, &Arc<[u8]>)| SkillFile {
            uri: format!("{root}/{}", uri::encode(path)),
            digest: Digest::of(content),
            size: Some(content.len() as u64),
        };
        let entry = SkillEntry {
            uri: format!("{root}/{SKILL_FILE}"),
            frontmatter: parsed.fields,
            resources: SkillResources::Listed(self.files.iter().map(file).collect()),
        };
        Ok((root, entry))
    }
}

fn name_of(fields: &JsonObject) -> String {
    let name = fields.get("name").and_then(|name| name.as_str());
    name.unwrap_or_default().to_owned()
}
