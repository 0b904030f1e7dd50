//! `Finding`: the result of a check.

use super::check::{Check, Severity};

/// How much of a message is shown as evidence, in characters.
const MAX_EVIDENCE: usize = 400;

/// How many pieces of evidence a finding keeps: the first ones show the problem.
const MAX_PIECES: usize = 12;

/// The result of a check, with its evidence.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) check: &'static Check,
    pub(crate) severity: Severity,
    /// What was found, as a clause.
    pub(crate) message: String,
    /// The places, such as ``tool `add` /properties/a``; several if the same problem is in several places.
    pub(crate) places: Vec<String>,
    /// Messages, headers, or last lines of stderr.
    pub(crate) evidence: Vec<String>,
}

impl Finding {
    /// A finding that the check failed.
    pub(crate) fn of(check: &'static Check, message: impl Into<String>) -> Self {
        Self {
            check,
            severity: check.severity,
            message: message.into(),
            places: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// A finding that the check passed.
    pub(crate) fn ok(check: &'static Check, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Ok,
            ..Self::of(check, message)
        }
    }

    pub(crate) fn at(mut self, place: impl Into<String>) -> Self {
        self.places.push(place.into());
        self
    }

    pub(crate) fn seen(mut self, piece: impl Into<String>) -> Self {
        if self.evidence.len() < MAX_PIECES {
            self.evidence.push(cut(&piece.into(), MAX_EVIDENCE));
        }
        self
    }

    pub(crate) fn seen_all(self, pieces: impl IntoIterator<Item = String>) -> Self {
        pieces.into_iter().fold(self, Self::seen)
    }
}

/// The beginning of a text, without control characters.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let is_plain = |letter: char| !letter.is_control() || letter == '\n' || letter == '\t';
    let shown: String = text
        .chars()
        .take(limit)
        .map(|letter| if is_plain(letter) { letter } else { '\u{fffd}' })
        .collect();
    if text.chars().nth(limit).is_some() {
        format!("{shown}…")
    } else {
        shown
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::stdout;

    #[test]
    fn evidence_is_short_and_harmless() {
        let finding = Finding::of(&stdout::STRAY, "x").seen("\u{1b}[31mred\u{7}");
        assert_eq!(finding.evidence, ["\u{fffd}[31mred\u{fffd}"]);
        let long = "ü".repeat(1000);
        assert_eq!(cut(&long, 3), "üüü…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
