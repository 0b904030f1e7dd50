//! Every bound of this crate, in one place. A schema may come from a stranger's server and an
//! instance from a model, so both are measured before and while they are used. Reaching a bound is
//! an error, never a panic.

/// JSON values in one schema document. The largest schemas seen in the wild (whole API
/// descriptions) have some ten thousand.
pub const MAX_SCHEMA_VALUES: usize = 100_000;

/// Levels of nesting in one schema document: what `serde_json` is ready to parse.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// Levels of nesting in an instance: what `serde_json` is ready to parse.
pub const MAX_INSTANCE_DEPTH: usize = 128;

/// Schemas applied inside one another at one moment: five for each level of an instance. Each costs
/// stack; this many fit into half of the two mebibytes of a worker thread even in a debug build.
pub const MAX_NESTED_SCHEMAS: usize = 640;

/// Schema applications in one check. Nested references can multiply the work without bound in a few
/// lines of schema; this many take about a second at the worst.
pub const MAX_STEPS: u64 = 4_000_000;

/// Violations one check reports. A model mends the first few and asks again.
pub const MAX_VIOLATIONS: usize = 16;

/// Bytes of one `pattern` as written.
pub const MAX_PATTERN_BYTES: usize = 8 * 1024;

/// Bytes of one compiled pattern, as its automaton counts them.
pub const MAX_PATTERN_SIZE: usize = 1024 * 1024;

/// States of one pattern with look-around, word boundaries or back-references, all its parts
/// together: each part is compiled alone, and [`MAX_PATTERN_SIZE`] does not bound how many there
/// are.
pub const MAX_PATTERN_STATES: usize = 50_000;

/// Different patterns in one schema document; with [`MAX_PATTERN_SIZE`] this bounds what a schema
/// can occupy.
pub const MAX_PATTERNS: usize = 128;

/// Steps back that a pattern with look-around or back-references may take on one string.
pub const MAX_BACKTRACKS: usize = 200_000;

/// Characters of a value that a message repeats; the sender knows the rest.
pub const MAX_SHOWN_CHARS: usize = 80;

/// Values of an `enum` or names of properties that a message lists before it says how many there
/// are.
pub const MAX_LISTED: usize = 20;

/// Ways through `anyOf` and `oneOf` that are tried to build one example.
pub const MAX_EXAMPLE_TRIES: usize = 64;

/// Levels and values that a built example may have; an example is for reading.
pub const MAX_EXAMPLE_DEPTH: usize = 16;

/// Values that a built example may have in all.
pub const MAX_EXAMPLE_VALUES: usize = 500;

/// Characters of a string made up for an example.
pub const MAX_EXAMPLE_CHARS: usize = 1_000;
