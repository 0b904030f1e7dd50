//! How large a skill may be.

/// Files of one skill, by the specification. A skill with more is a library that should be split.
pub const MAX_FILES: usize = 512;

/// Bytes of all files of one skill together, by the specification.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of the frontmatter of a `SKILL.md`. It is a name, a description and some metadata; what is
/// longer is an attempt to keep a YAML parser busy.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
