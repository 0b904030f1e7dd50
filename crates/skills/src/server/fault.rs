//! Why a directory cannot be served as skills.

use std::path::PathBuf;

use crate::{BadFrontmatter, MAX_FILES, MAX_SKILL_BYTES};

/// Why a directory cannot be served as skills.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFault {
    /// It cannot be read.
    #[error("`{path}` cannot be read", path = path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It holds no skill.
    #[error("`{path}` holds no directory with a `SKILL.md`", path = path.display())]
    NoSkills {
        /// What.
        path: PathBuf,
    },
    /// It contains something other than plain files.
    #[error("`{path}` is not a plain file or directory; skills contain only these, and no links", path = path.display())]
    NotPlain {
        /// What.
        path: PathBuf,
    },
    /// A name is not UTF-8.
    #[error("the name of `{path}` is not UTF-8; rename it", path = path.display())]
    BadName {
        /// What.
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
    /// A `SKILL.md` is wrong.
    #[error("`{path}`: {problem}", path = path.display())]
    BadSkill {
        /// The `SKILL.md`.
        path: PathBuf,
        /// What is wrong.
        problem: BadFrontmatter,
    },
    /// The directory has another name than the skill.
    #[error("the directory of skill `{name}` must have the name `{name}`, not `{path}`", path = path.display())]
    Misnamed {
        /// The directory.
        path: PathBuf,
        /// The skill.
        name: String,
    },
}
