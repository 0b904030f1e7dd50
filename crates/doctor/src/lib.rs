//! Examines a server: finds its problems, the violated rules, and what to do about them.
//!
//! [`examine()`] does what a client does, and more: it checks name, port, TLS, process, both eras, lists, and
//! the answers to invalid requests. Each check in the `table` has an id, and the [`Report`] contains
//! the results. No tool is called unless [`Tools::Call`] asks for it.

mod authorization;
mod call;
mod cancel;
mod check;
mod connection;
mod discover;
mod examine;
mod finding;
mod handshake;
mod http;
mod json;
mod limits;
mod lint;
mod listen;
mod methods;
mod network;
mod offer;
#[cfg(test)]
mod page;
mod process;
mod report;
mod sarif;
mod scope;
mod table;
mod text;

use serde_json::Value;
use turnbuckle_command_line::failure::{Failed, Outcome};

pub use check::Severity;
pub use examine::examine;
pub use report::Report;
pub use scope::Tools;

impl Report {
    /// The report as text for people, line by line.
    pub fn to_text(&self) -> Vec<String> {
        text::lines(self)
    }

    /// Every finding, including checks that passed.
    pub fn to_json(&self) -> Value {
        json::report(self)
    }

    /// The findings as SARIF 2.1.0, for code scanning.
    pub fn to_sarif(&self) -> Value {
        sarif::log(self)
    }

    /// Fails if there is a finding of at least this severity, with the exit code and the advice of the
    /// first of the most severe ones.
    pub fn verdict(&self, severity: Severity) -> Outcome {
        let found = [Severity::Error, Severity::Warning]
            .into_iter()
            .filter(|found| *found >= severity)
            .find_map(|found| self.first(found));
        match found {
            None => Ok(()),
            Some(finding) => {
                let said = format!("{} [{}]", finding.message, finding.check.id);
                Err(Failed::new(finding.check.code(), said).hint(finding.check.fix))
            }
        }
    }
}
