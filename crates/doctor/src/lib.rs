//! Examines a server: what is wrong with it, by which rule, and what to do about it.
//!
//! [`examine()`] does what a client does, and more: name, port, TLS, process, both eras, lists, and
//! how invalid requests are answered. Each check of the `table` has an id, and the [`Report`] holds
//! what came of it. No tool is called unless [`Tools::Call`] asks for it.

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
    /// The report as a person reads it, line by line.
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

    /// Fails if something at least this severe was found, with the exit code and the fix of the
    /// first of the most severe.
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
