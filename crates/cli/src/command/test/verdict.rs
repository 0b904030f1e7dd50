//! The verdict on a saved call.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_command_line::style::{Style, elapsed};

use crate::show::print;

/// The verdict on a saved call.
pub(super) struct Verdict {
    pub(super) title: String,
    /// The expectations that do not hold; empty if all of them hold.
    pub(super) problems: Vec<String>,
    /// Whether the call was not made, because an earlier one failed.
    pub(super) is_skipped: bool,
    pub(super) took: Duration,
}

impl Verdict {
    pub(super) fn has_passed(&self) -> bool {
        self.problems.is_empty() && !self.is_skipped
    }

    /// Prints the verdict for people.
    pub(super) fn show(&self) {
        if self.is_skipped {
            print(&format!("{}  {}", Style::Dim.out("skip"), self.title));
            return;
        }
        let mark = if self.has_passed() {
            Style::Good.out("ok  ")
        } else {
            Style::Bad.out("FAIL")
        };
        let took = Style::Dim.out(&format!("({})", elapsed(self.took)));
        print(&format!("{mark}  {} {took}", self.title));
        for line in self.problems.iter().flat_map(|problem| problem.lines()) {
            print(&format!("      {line}"));
        }
    }

    /// The verdict as JSON.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.title,
            "passed": self.has_passed(),
            "skipped": self.is_skipped,
            "problems": self.problems,
            "milliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
