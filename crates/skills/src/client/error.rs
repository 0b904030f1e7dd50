//! Why a skill cannot be used.

use turnbuckle_client::CallError;

use crate::{BadFrontmatter, Digest};

/// Why a skill cannot be used.
///
/// The first four say that what was read is not what was promised: do not use it. If the skill was
/// changed since it was listed, [`get`](crate::SkillClient::get) it again, and ask the user again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A file has another length than its entry says.
    #[error(
        "`{uri}` has {found} bytes where its entry says {listed}: it has changed, load the skill again"
    )]
    Size {
        /// The file.
        uri: Box<str>,
        /// What the entry says.
        listed: u64,
        /// What came.
        found: u64,
    },
    /// A file has other bytes than its entry says.
    #[error(
        "`{uri}` has digest {found} where its entry says {listed}: it has changed, load the skill again"
    )]
    Digest {
        /// The file.
        uri: Box<str>,
        /// What the entry says.
        listed: Digest,
        /// What came.
        found: Digest,
    },
    /// The frontmatter in the file is not that in the entry.
    #[error("`{field}` in the frontmatter of `{uri}` is not what its entry says: do not load it")]
    Frontmatter {
        /// The `SKILL.md`.
        uri: Box<str>,
        /// The first field that differs.
        field: Box<str>,
    },
    /// A file is not among those of the skill.
    #[error("`{uri}` is not listed among the files of the skill: do not use it")]
    Unlisted {
        /// The file.
        uri: Box<str>,
    },
    /// A path does not lead to a file of the skill.
    #[error("`{path}` does not lead to a file below the skill's directory")]
    Outside {
        /// The path.
        path: Box<str>,
    },
    /// The entry contradicts itself.
    #[error("the entry of skill `{uri}` is wrong: {problem}")]
    BadEntry {
        /// The skill.
        uri: Box<str>,
        /// What is wrong.
        problem: &'static str,
    },
    /// The `SKILL.md` has no frontmatter that can be used.
    #[error("`{uri}` is not a skill: {problem}")]
    BadSkill {
        /// The file.
        uri: Box<str>,
        /// What is wrong.
        problem: BadFrontmatter,
    },
    /// The contents are not a file: not exactly one content, or one that cannot be decoded.
    #[error("the contents of `{uri}` are not a file: {problem}")]
    BadFile {
        /// The file.
        uri: Box<str>,
        /// What is wrong.
        problem: &'static str,
    },
    /// The list does not end.
    #[error("the server's list goes on after {pages} pages")]
    Endless {
        /// How many pages were read.
        pages: usize,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}
