//! Checks a string.

use std::ops::ControlFlow;

use serde_json::Value;

use super::run::{Flow, Place, Report, Run};
use crate::format::Formats;
use crate::node::TextRules;
use crate::shown;
use crate::violation::{Keyword, Violation};

impl TextRules {
    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        text: &str,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        self.check_length(text, place, report)?;
        if let Some(pattern) = &self.pattern
            && !run.matches(pattern, text)
        {
            report.note(|| {
                let expected = format!("a string that matches the pattern `{}`", pattern.source());
                violation(Keyword::Pattern, expected, text, place)
            })?;
        }
        if let Some(format) = self.format
            && self.formats == Formats::Assert
            && !format.admits(text)
        {
            let expected = || format!("{} (for example `{}`)", format.in_words(), format.sample());
            report.note(|| violation(Keyword::Format, expected(), text, place))?;
        }
        ControlFlow::Continue(())
    }

    fn check_length<R: Report>(&self, text: &str, place: &Place<'_>, report: &mut R) -> Flow {
        let most = self.most.unwrap_or(u64::MAX);
        // A string has no more characters than bytes, and at least a quarter as many.
        let bytes = text.len() as u64;
        if bytes.div_ceil(4) >= self.least && bytes <= most {
            return ControlFlow::Continue(());
        }
        let length = text.chars().count() as u64;
        if length < self.least {
            report.note(|| {
                let expected = format!("a string of at least {}", characters(self.least));
                length_violation(Keyword::MinLength, expected, text, length, place)
            })?;
        }
        if length > most {
            report.note(|| {
                let expected = format!("a string of at most {}", characters(most));
                length_violation(Keyword::MaxLength, expected, text, length, place)
            })?;
        }
        ControlFlow::Continue(())
    }
}

fn characters(count: u64) -> String {
    match count {
        1 => "1 character".to_owned(),
        count => format!("{count} characters"),
    }
}

fn violation(keyword: Keyword, expected: String, text: &str, place: &Place<'_>) -> Violation {
    let found = shown::value(&Value::String(text.to_owned()));
    Violation::new(place.pointer(), keyword, expected, found)
}

fn length_violation(
    keyword: Keyword,
    expected: String,
    text: &str,
    length: u64,
    place: &Place<'_>,
) -> Violation {
    let mut violation = violation(keyword, expected, text, place);
    violation.found = format!("{} ({})", violation.found, characters(length));
    violation
}
