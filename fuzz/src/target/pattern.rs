//! Regular expressions of schemas. Compiling and matching must end without a panic, and the result of matching is
//! compared in two ways:
//!
//! - with a separate matcher for the common part of ECMA-262 (see `pattern_oracle`), which shares no
//!   code and no method with the engine: literals, classes, groups, alternatives, repetitions, anchors,
//!   word boundaries and look-around. Nearly all patterns in schemas consist of these.
//! - for every pattern, even outside that part, with its negation: either the pattern matches, or
//!   the look-ahead that it matches nowhere, which another engine runs.
//!
//! Unicode properties, back-references and control escapes are not compared with a second matcher. The unit
//! tests of the schema crate check them with examples.

use serde_json::{Value, json};
use turnbuckle_schema::{Keyword, Schema};

use super::{Target, pattern_oracle::Oracle};

pub const TARGET: Target = Target {
    name: "pattern",
    run,
    seeds: &[
        b"^a+(b|c)*$\nabc",
        b"[^\\d\\s]{2,3}\\u0041\nxyA",
        b"(?:x)(?=y)\\bz\\w\\.\nxyz.",
        b"^[a-z\\-\\]]+\\/\\p{L}$\na-/b",
        b"^(?:[a-z0-9](?:[a-z0-9-]{0,3}[a-z0-9])?\\.)+[a-z]{2,}$\na-b.cd",
        b"(?<!a)b(?!c)|(?<=x)y\nab b",
        b"[a&&b][^\\W_]\\B.?\n&b1",
    ],
    words: &[
        "[a-z]",
        "\\d",
        "\\W",
        "{1,2}",
        "(?:",
        "(?!",
        "(?<=",
        "|",
        "^",
        "$",
        "\\u{1f600}",
        "\\cA",
        "\\p{Lu}",
        "*?",
        "\\1",
        "[^",
        "\\b",
        "\\s",
        "--",
        "&&",
        "~~",
        ")*",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let (pattern, instance) = text.split_once('\n').unwrap_or((text, ""));
    let oracle = Oracle::parse(pattern);
    let schema = match Schema::compile(&json!({ "pattern": pattern })) {
        Ok(schema) => schema,
        Err(error) => {
            let is_common = oracle.is_some_and(|oracle| oracle.is_small());
            assert!(!is_common, "a common pattern is refused: {error}");
            return;
        }
    };
    let Some(matches) = verdict(&schema, instance) else {
        return;
    };
    if let Some(expected) = oracle.and_then(|oracle| oracle.matches(instance)) {
        assert_eq!(matches, expected, "the oracle says otherwise");
    }
    let opposite = format!("^(?![\\s\\S]*(?:{pattern}))");
    if let Ok(opposite) = Schema::compile(&json!({ "pattern": opposite }))
        && let Some(is_absent) = verdict(&opposite, instance)
    {
        assert_eq!(matches, !is_absent, "it matches, or it matches nowhere");
    }
}

/// Whether the text matches; `None` if the engine gave up.
fn verdict(schema: &Schema, instance: &str) -> Option<bool> {
    let instance = Value::from(instance);
    let checked = schema.check(&instance);
    if let Err(violations) = &checked
        && violations[0].keyword == Keyword::Limit
    {
        return None;
    }
    let is_valid = checked.is_ok();
    assert_eq!(schema.is_valid(&instance), is_valid, "both ways agree");
    Some(is_valid)
}
