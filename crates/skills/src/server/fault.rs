//! Errors of directories with skills.

use std::path::PathBuf;

use crate::{BadFrontmatter, MAX_FILES, MAX_SKILL_BYTES};

/// Why a directory cannot be served as skills.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFault {
    /// A file or directory cannot be read.
    #[error("`{path}` cannot be read", path = path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        #[source]
        source: std::io::Error,
    },
    /// The directory contains no skill.
    #[error("`{path}` holds no directory with a `SKILL.md`", path = path.display())]
    NoSkills {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains something other than plain files and directories.
    #[error("`{path}` is not a plain file or directory; skills contain only these, and no links", path = path.display())]
    NotPlain {
        /// The path of the entry.
        path: PathBuf,
    },
    /// A name is not UTF-8.
    #[error("the name of `{path}` is not UTF-8; rename it", path = path.display())]
    BadName {
        /// The path of the entry.
        path: PathBuf,
    },
    /// A skill has too many files.
    #[error("`{path}` has more than {MAX_FILES} files: split the skill", path = path.display())]
    TooManyFiles {
        /// The skill.
        path: PathBuf,
    },
    /// A skill is too large.
    #[error("the files of `{path}` have more than {MAX_SKILL_BYTES} bytes: split the skill", path = path.display())]
    TooLarge {
        /// The skill.
        path: PathBuf,
    },
    /// A `SKILL.md` has no valid frontmatter.
    #[error("`{path}`: {problem}", path = path.display())]
    BadSkill {
        /// The `SKILL.md`.
        path: PathBuf,
        /// The problem.
        problem: BadFrontmatter,
    },
    /// The directory does not have the name of the skill.
    #[error("the directory of skill `{name}` must have the name `{name}`, not `{path}`", path = path.display())]
    Misnamed {
        /// The directory.
        path: PathBuf,
        /// The name of the skill.
        name: String,
    },
}
