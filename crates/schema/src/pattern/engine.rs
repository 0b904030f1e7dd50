//! The engine that runs patterns.

use std::sync::OnceLock;

use fancy_regex::{CompileError, Regex, RegexBuilder};

use super::{Cost, Engine, Exhausted, Pattern, emit, parse, sample};
use crate::limits::{MAX_BACKTRACKS, MAX_PATTERN_BYTES, MAX_PATTERN_SIZE, MAX_PATTERN_STATES};

/// Backtracking steps that are allowed at first. Nearly every match needs far fewer, and a bound this low keeps many
/// costly strings from adding up.
const FEW_BACKTRACKS: usize = 2_000;

/// A pattern in the engine's own syntax.
#[derive(Debug)]
struct CompiledPattern {
    regex: Regex,
    /// The same pattern with the limit [`MAX_BACKTRACKS`], compiled when a string needs it.
    patient: OnceLock<Option<Regex>>,
}

/// Compiles a pattern.
pub(crate) fn compile(source: &str) -> Result<Pattern, String> {
    if source.len() > MAX_PATTERN_BYTES {
        return Err(format!("it is longer than {MAX_PATTERN_BYTES} bytes"));
    }
    let tree = parse::parse(source)?;
    let cost = emit::cost(&tree);
    if cost == Cost::Backtracking && emit::states(&tree) > MAX_PATTERN_STATES {
        return Err(format!(
            "written out, its repeated parts need more than {MAX_PATTERN_STATES} states; allow \
             fewer repetitions, or leave out the look-around"
        ));
    }
    let regex = build(&emit::emit(&tree), FEW_BACKTRACKS)?;
    Ok(Pattern {
        source: source.into(),
        engine: Box::new(CompiledPattern {
            regex,
            patient: OnceLock::new(),
        }),
        cost,
    })
}

impl Engine for CompiledPattern {
    fn is_match(&self, text: &str) -> Result<bool, Exhausted> {
        self.regex.is_match(text).map_err(|_| Exhausted)
    }

    fn is_match_at_length(&self, text: &str) -> Result<bool, Exhausted> {
        let patient = self
            .patient
            .get_or_init(|| build(self.regex.as_str(), MAX_BACKTRACKS).ok());
        let regex = patient.as_ref().ok_or(Exhausted)?;
        regex.is_match(text).map_err(|_| Exhausted)
    }

    fn sample(&self, source: &str, extra: usize) -> Option<String> {
        sample::sample(source, extra)
    }
}

fn build(pattern: &str, backtracks: usize) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .backtrack_limit(backtracks)
        .delegate_size_limit(MAX_PATTERN_SIZE)
        .delegate_dfa_size_limit(MAX_PATTERN_SIZE)
        .build()
        .map_err(|error| match &error {
            fancy_regex::Error::CompileError(cause)
                if matches!(&**cause, CompileError::InnerError(cause) if cause.size_limit().is_some()) =>
            {
                format!("compiled, it takes more than {MAX_PATTERN_SIZE} bytes; allow fewer repetitions")
            }
            _ => error.to_string(),
        })
}
