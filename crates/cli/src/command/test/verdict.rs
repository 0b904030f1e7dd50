//! What came of a saved call.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_command_line::style::{Style, elapsed};

use crate::show::print;

/// What came of a saved call.
pub(super) struct Verdict {
    pub(super) title: String,
    /// What does not hold; empty if all does.
    pub(super) problems: Vec<String>,
    pub(super) took: Duration,
}

impl Verdict {
    pub(super) fn has_passed(&self) -> bool {
        self.problems.is_empty()
    }

    /// Prints it for people.
    pub(super) fn show(&self) {
        let mark = if self.has_passed() {
            Style::Good.out("ok  ")
        } else {
            Style::Bad.out("FAIL")
        };
        let took = Style::Dim.out(&format!("({})", elapsed(self.took)));
        print(&format!("{mark}  {} {took}", self.title));
        for problem in &self.problems {
            print(&format!("      {problem}"));
        }
    }

    /// It for programs.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.title,
            "passed": self.has_passed(),
            "problems": self.problems,
            "milliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
