//! Regular expressions of JSON Schema (ECMA-262), run by an engine for another dialect: `parse` reads a
//! pattern, `emit` writes it for the engine, `engine` runs it, and `sample` builds a string that matches it.

mod emit;
mod engine;
mod parse;
mod sample;
mod tree;

use std::panic::{RefUnwindSafe, UnwindSafe};

pub(crate) use engine::compile;

/// A compiled pattern. Its engine is behind a pointer that only [`compile`] creates, so that a
/// program that never compiles a pattern is linked without the engine and its tables.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    engine: Box<dyn Engine>,
    cost: Cost,
}

/// Compiles the text of a pattern, or says why it cannot be used.
pub(crate) type Compile = fn(&str) -> Result<Pattern, String>;

/// The engine that runs a pattern.
pub(crate) trait Engine: std::fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Whether the pattern matches somewhere in the text, with few backtracking steps.
    fn is_match(&self, text: &str) -> Result<bool, Exhausted>;

    /// The same with all allowed steps, for a text for which few were not enough.
    fn is_match_at_length(&self, text: &str) -> Result<bool, Exhausted>;

    /// A string that probably matches.
    fn sample(&self, source: &str, extra: usize) -> Option<String>;
}

/// The cost of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// The time only depends on the length of the string.
    Linear,
    /// Backtracking for look-around or back-references, within limits.
    Backtracking,
}

/// The engine gave up on a string because the backtracking steps were used up.
#[derive(Debug)]
pub(crate) struct Exhausted;

/// Rejects every pattern, for schemas that must not have any.
pub(crate) fn refuse(_: &str) -> Result<Pattern, String> {
    Err("this schema is compiled without the engine for patterns".to_owned())
}

impl Pattern {
    /// The pattern as written in the schema.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    /// Whether the pattern matches somewhere in the text, with few backtracking steps.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, Exhausted> {
        self.engine.is_match(text)
    }

    /// The same with all allowed steps, for a text for which few were not enough.
    pub(crate) fn is_match_at_length(&self, text: &str) -> Result<bool, Exhausted> {
        self.engine.is_match_at_length(text)
    }

    /// A string that the pattern probably matches. Repetitions without an upper bound are repeated `extra`
    /// times more than they must be.
    pub(crate) fn sample(&self, extra: usize) -> Option<String> {
        self.engine.sample(&self.source, extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn claim(pattern: &str, matching: &[&str], others: &[&str]) {
        let compiled = compile(pattern).expect(pattern);
        for text in matching {
            assert_eq!(
                compiled.is_match(text).ok(),
                Some(true),
                "{pattern} on {text:?}"
            );
        }
        for text in others {
            assert_eq!(
                compiled.is_match(text).ok(),
                Some(false),
                "{pattern} on {text:?}"
            );
        }
    }

    #[test]
    fn classes_are_those_of_ecma_not_of_unicode() {
        claim(r"^\d$", &["7"], &["٧", "x"]);
        claim(r"^\D$", &["٧", "x"], &["7"]);
        claim(r"^\w$", &["a", "_"], &["é"]);
        claim(r"^\W$", &["é", "-"], &["a"]);
        claim(
            r"^\s$",
            &["\u{feff}", "\u{a0}", "\u{2029}", "\u{b}"],
            &["\u{1}", "\u{2013}"],
        );
        claim(r"^\S$", &["\u{1}"], &["\u{feff}"]);
        claim(r"^[\d\-.]+$", &["1-2.3"], &["a"]);
        claim(r"^[\W]$", &["é"], &["a"]);
        claim(r"^[^\D]$", &["5"], &["a"]);
        claim(r"^\p{Letter}+$", &["né"], &["1"]);
        claim(r"^[\p{L}\p{N}]+$", &["né1"], &["-"]);
        claim(r"^\P{Lu}$", &["a"], &["A"]);
        claim(r"^\p{Script=Greek}$", &["π"], &["p"]);
    }

    #[test]
    fn the_dot_and_the_anchors_stop_where_ecma_stops() {
        claim("^.$", &["a", "\u{85}", "🐲"], &["\n", "\r", "\u{2028}"]);
        claim("^abc$", &["abc"], &["abc\n", "\nabc"]);
        claim("a", &["xay"], &["xyz"]);
        claim("^🐲*$", &["", "🐲🐲"], &["🐲a"]);
    }

    #[test]
    fn word_boundaries_are_ascii() {
        claim(r"\bfoo\b", &["a foo b", "éfoo"], &["afoo", "foo_"]);
        claim(r"\Bfoo", &["afoo"], &["foo", " foo"]);
    }

    #[test]
    fn escapes_name_characters() {
        claim(r"^\x41\u0042\u{43}\cA\0\t\/\-$", &["ABC\u{1}\0\t/-"], &[]);
        claim(r"^\uD83D\uDC32$", &["🐲"], &[]);
        claim(r"^[\uD83D\uDC32a]$", &["🐲", "a"], &["b"]);
        claim(r"^[\b]$", &["\u{8}"], &["b"]);
        claim(r"^\$\.\*$", &["$.*"], &[]);
    }

    #[test]
    fn class_syntax_of_the_engine_is_not_class_syntax_of_ecma() {
        claim("^[[a]$", &["[", "a"], &["b"]);
        claim("^[a&&b]$", &["&", "a", "b"], &["c"]);
        claim("^[+--b]$", &["+", ",", "-", "b"], &["c"]);
        claim("^[~~]$", &["~"], &["a"]);
        claim(r"^[\w-.]$", &["-", ".", "a"], &["+"]);
        claim("^[]$", &[], &["", "a"]);
        claim("^[^]$", &["a", "\n"], &[""]);
        claim("^a{,2}$", &["a{,2}"], &["a", "aa"]);
        claim("^a{2}b{1,}c{0,1}$", &["aab", "aabbc"], &["ab"]);
    }

    #[test]
    fn look_around_and_back_references_work_within_bounds() {
        let email = concat!(
            r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]",
            r"@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
        );
        claim(
            email,
            &["jane.doe+x@mail.example.org"],
            &["jane..doe@example.org", "a@b", "@b.cd"],
        );
        claim(r"^(?=.*\d)(?=.*[a-z]).{4,}$", &["abc1"], &["abcd", "1a"]);
        claim(r"^(?<q>['x])\w+\k<q>$", &["'a'"], &["'ax"]);
        claim(r"^(a|b)\1$", &["aa", "bb"], &["ab"]);
        claim(r"(?<=\$)\d", &["$5"], &["5"]);
        claim("^a(?:)*b$", &["ab"], &["a", "b"]);
        claim("^a(?:(?:){2,3}?)+(?i:)?b$", &["ab"], &["a", "b"]);
        assert_eq!(compile("^a+$").expect("plain").cost(), Cost::Linear);
        assert_eq!(compile("(?=a)").expect("looks").cost(), Cost::Backtracking);
    }

    #[test]
    fn catastrophic_patterns_end_in_exhaustion() {
        let pattern = compile(r"^(?:(?=a)a|a)*(?=c)$").expect("valid");
        assert!(pattern.is_match(&"a".repeat(64)).is_err());
        assert!(pattern.is_match_at_length(&"a".repeat(64)).is_err());
    }

    #[test]
    fn a_long_string_gets_the_steps_it_needs() {
        let pattern = compile(r"\bend\b").expect("valid");
        let text = format!("{} end", "word ".repeat(5_000));
        assert!(pattern.is_match(&text).is_err());
        assert!(pattern.is_match_at_length(&text).expect("within bounds"));
    }

    #[test]
    fn what_ecma_does_not_know_is_refused() {
        for pattern in [
            r"\Z", r"\A", r"\a", "a++", "(?>a)", "(", ")", "[", "*", "a**", r"\", r"\uD83D",
            "[a--b]",
        ] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
        assert!(compile("(a{1000}){1000}").is_err());
        assert!(compile(&"(".repeat(4_000)).is_err());
    }

    #[test]
    fn a_case_flag_is_let_through() {
        claim("(?i)^abc$", &["ABC"], &["abd"]);
        claim("^(?i:a)b$", &["Ab"], &["AB"]);
    }
}
