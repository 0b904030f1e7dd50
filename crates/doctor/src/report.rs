//! The report: all findings.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use turnbuckle_command_line::{secret::Secrets, wire::Wire};

use super::{
    check::{Check, Severity},
    finding::Finding,
};

/// What is known about the server so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    /// The name that the user gave.
    pub(crate) name: String,
    /// How it is reached, as text.
    pub(crate) transport: String,
    /// The revisions that were used with it.
    pub(crate) revisions: Vec<String>,
    /// The name and version that it reports.
    pub(crate) title: Option<String>,
}

/// The findings of a run. A finding stays in the report even if the run ends
/// early.
pub struct Report {
    started: Instant,
    secrets: Secrets,
    /// Shows and records messages, if requested.
    pub(crate) wire: Wire,
    kept: RefCell<Kept>,
}

#[derive(Default)]
struct Kept {
    subject: Subject,
    findings: Vec<Finding>,
    step: String,
    is_muted: bool,
}

/// How many places a finding keeps; a server with ten thousand tools may repeat its mistakes.
const MAX_PLACES: usize = 1_000;

impl Report {
    pub(crate) fn new(name: &str, secrets: Secrets, wire: Wire) -> Self {
        let kept = Kept {
            subject: Subject {
                name: name.to_owned(),
                ..Subject::default()
            },
            ..Kept::default()
        };
        Self {
            started: Instant::now(),
            secrets,
            wire,
            kept: RefCell::new(kept),
        }
    }

    /// Adds a finding. Findings of the same check with the same message become one, with several places.
    pub(crate) fn add(&self, finding: Finding) {
        let finding = self.masked(finding);
        let mut kept = self.kept.borrow_mut();
        if kept.is_muted {
            return;
        }
        let same = kept.findings.iter_mut().find(|other| {
            std::ptr::eq(other.check, finding.check)
                && other.severity == finding.severity
                && other.message == finding.message
        });
        match same {
            Some(other) => {
                for place in finding.places {
                    if other.places.len() < MAX_PLACES && !other.places.contains(&place) {
                        other.places.push(place);
                    }
                }
            }
            None => kept.findings.push(finding),
        }
    }

    /// Adds a finding that a check passed.
    pub(crate) fn ok(&self, check: &'static Check, message: impl Into<String>) {
        self.add(Finding::ok(check, message));
    }

    /// Adds a finding that a check passed, unless it failed before.
    pub(crate) fn ok_unless_found(&self, check: &'static Check, message: impl Into<String>) {
        if !self.has(check) {
            self.ok(check, message);
        }
    }

    /// Ignores findings while muted. This is for a server that has ended: further requests to it only
    /// show again that it has ended.
    pub(crate) fn mute(&self, is_muted: bool) {
        self.kept.borrow_mut().is_muted = is_muted;
    }

    pub(crate) fn is_muted(&self) -> bool {
        self.kept.borrow().is_muted
    }

    /// Records the current step, for a run that ends early.
    pub(crate) fn step(&self, step: impl Into<String>) {
        self.kept.borrow_mut().step = step.into();
    }

    pub(crate) fn current_step(&self) -> String {
        self.kept.borrow().step.clone()
    }

    pub(crate) fn know(&self, learn: impl FnOnce(&mut Subject)) {
        learn(&mut self.kept.borrow_mut().subject);
    }

    pub(crate) fn subject(&self) -> Subject {
        self.kept.borrow().subject.clone()
    }

    /// Whether the check failed.
    pub(crate) fn has(&self, check: &'static Check) -> bool {
        let kept = self.kept.borrow();
        let mut failed = kept.findings.iter().filter(|it| it.severity > Severity::Ok);
        failed.any(|it| std::ptr::eq(it.check, check))
    }

    /// All findings, in the order of areas.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.kept.borrow().findings.clone();
        findings.sort_by_key(|finding| finding.check.area);
        findings
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        let kept = self.kept.borrow();
        let counted = kept.findings.iter().filter(|it| it.severity == severity);
        counted.count()
    }

    /// The first problem in the order of time: later ones may be caused by it.
    pub(crate) fn first(&self, severity: Severity) -> Option<Finding> {
        let kept = self.kept.borrow();
        let mut found = kept.findings.iter();
        found.find(|it| it.severity == severity).cloned()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn masked(&self, mut finding: Finding) -> Finding {
        finding.message = self.secrets.mask(&finding.message);
        for piece in &mut finding.evidence {
            *piece = self.secrets.mask(piece);
        }
        finding
    }
}

#[cfg(test)]
impl Report {
    /// A report that shows and records no messages.
    pub(crate) fn test() -> Self {
        let wire = Wire::open(false, None, Secrets::default()).expect("no file is opened");
        Self::new("test", Secrets::default(), wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{lists, stdout};

    #[test]
    fn one_mistake_in_many_places_is_one_finding_and_secrets_are_masked() {
        let mut secrets = Secrets::default();
        secrets.add("Bearer hunter2-and-more");
        let report = Report {
            secrets,
            ..Report::test()
        };
        for place in ["a", "b"] {
            report.add(Finding::of(&lists::NULL, "it is null").at(place));
        }
        report.add(Finding::of(&stdout::STRAY, "stray").seen("token hunter2-and-more"));
        let findings = report.findings();
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].evidence, ["token ***"]);
        assert_eq!(findings[1].places, ["a", "b"]);
        assert!(report.has(&lists::NULL) && !report.has(&lists::SHAPE));
        assert_eq!(report.count(Severity::Error), 2);
    }
}
