//! Limits on the size of a skill.

/// How many files one skill may have, by the specification. A larger skill should be split.
pub const MAX_FILES: usize = 512;

/// How many bytes all files of one skill may have together, by the specification.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// How many bytes the frontmatter of a `SKILL.md` may have. It contains a name, a description and some metadata;
/// anything longer is an attempt to keep a YAML parser busy.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
