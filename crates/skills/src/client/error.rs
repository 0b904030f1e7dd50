//! Errors of skills.

use turnbuckle_client::CallError;

use crate::{BadFrontmatter, Digest};

/// Why a skill cannot be used.
///
/// With the first four errors, the content differs from the skill's entry: do not use it. If the skill has
/// changed since it was listed, [`get`](crate::SkillClient::get) its entry again, and ask the user again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A file does not have the size in its entry.
    #[error(
        "`{uri}` has {found} bytes, but its entry says {listed}: the file has changed, so load the \
         skill again"
    )]
    Size {
        /// The file.
        uri: Box<str>,
        /// The size in the entry.
        listed: u64,
        /// The size of the content.
        found: u64,
    },
    /// A file does not have the digest in its entry.
    #[error(
        "`{uri}` has digest {found}, but its entry says {listed}: the file has changed, so load \
         the skill again"
    )]
    Digest {
        /// The file.
        uri: Box<str>,
        /// The digest in the entry.
        listed: Digest,
        /// The digest of the content.
        found: Digest,
    },
    /// The frontmatter of the file differs from the entry.
    #[error(
        "`{field}` in the frontmatter of `{uri}` differs from the skill's entry: do not load the \
         skill"
    )]
    Frontmatter {
        /// The `SKILL.md`.
        uri: Box<str>,
        /// The first field that differs.
        field: Box<str>,
    },
    /// The file is not listed in the skill's entry.
    #[error("`{uri}` is not listed among the files of the skill: do not use it")]
    Unlisted {
        /// The file.
        uri: Box<str>,
    },
    /// The path does not lead to a file of the skill.
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
        /// The problem.
        problem: &'static str,
    },
    /// The `SKILL.md` has no valid frontmatter.
    #[error("`{uri}` is not a skill: {problem}")]
    BadSkill {
        /// The file.
        uri: Box<str>,
        /// The problem.
        problem: BadFrontmatter,
    },
    /// The server returned more or less than one content, or one that cannot be decoded.
    #[error("the contents of `{uri}` are not a file: {problem}")]
    BadFile {
        /// The file.
        uri: Box<str>,
        /// The problem.
        problem: &'static str,
    },
    /// The server's list has too many pages.
    #[error("the server's list does not end after {pages} pages")]
    Endless {
        /// How many pages were read.
        pages: usize,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}
