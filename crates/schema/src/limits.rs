//! The limits of this crate. Schemas may come from untrusted servers and instances from models, so both are
//! measured before and during use. Reaching a limit is an error, never a panic.

/// JSON values in one schema document. The largest schemas known from real servers (whole API
/// descriptions) have about ten thousand.
pub const MAX_SCHEMA_VALUES: usize = 100_000;

/// Levels of nesting in one schema document: the number that `serde_json` parses.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// Levels of nesting in an instance: the number that `serde_json` parses.
pub const MAX_INSTANCE_DEPTH: usize = 128;

/// Schemas applied inside one another at the same time: five for each level of an instance. Each uses stack; this
/// many fit into half of the two mebibytes of a worker thread even in a debug build.
pub const MAX_NESTED_SCHEMAS: usize = 640;

/// Schema applications in one check. With nested references, a few lines of schema can multiply the work without
/// bound; this many take about a second in the worst case.
pub const MAX_STEPS: u64 = 4_000_000;

/// Violations that one check reports. A model corrects the first few and calls again.
pub const MAX_VIOLATIONS: usize = 16;

/// Bytes of one `pattern` as written.
pub const MAX_PATTERN_BYTES: usize = 8 * 1024;

/// Bytes of one compiled pattern, as its automaton counts them.
pub const MAX_PATTERN_SIZE: usize = 1024 * 1024;

/// States of all parts of one pattern with look-around, word boundaries or back-references. Each part is compiled
/// by itself, and [`MAX_PATTERN_SIZE`] does not limit their number.
pub const MAX_PATTERN_STATES: usize = 50_000;

/// Different patterns in one schema document. Together with [`MAX_PATTERN_SIZE`] this limits the memory of a schema.
pub const MAX_PATTERNS: usize = 128;

/// Backtracking steps of a pattern with look-around or back-references on one string.
pub const MAX_BACKTRACKS: usize = 200_000;

/// Characters of a value that a message repeats; the sender knows the rest.
pub const MAX_SHOWN_CHARS: usize = 80;

/// Values of an `enum` or names of properties that a message lists; beyond that it only gives their number.
pub const MAX_LISTED: usize = 20;

/// Combinations of branches of `anyOf` and `oneOf` that are tried to build one example.
pub const MAX_EXAMPLE_TRIES: usize = 64;

/// Levels of nesting in a built example, which is meant for reading.
pub const MAX_EXAMPLE_DEPTH: usize = 16;

/// Values in a built example.
pub const MAX_EXAMPLE_VALUES: usize = 500;

/// Characters of a string that is built for an example.
pub const MAX_EXAMPLE_CHARS: usize = 1_000;
