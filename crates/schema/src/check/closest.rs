//! Decides what to report when no branch of `anyOf` or `oneOf` matches. A list of the violations of every
//! branch would not help, so only the violations of the branch that was probably meant are reported.

use serde_json::Value;

use super::apply::check;
use super::run::{Collected, Flow, Place, Report, Run};
use crate::nearest;
use crate::node::NodeId;
use crate::shown;
use crate::violation::{Keyword, Violation};

/// Reports that no branch matches.
pub(crate) fn report_none<R: Report>(
    run: &mut Run<'_>,
    keyword: Keyword,
    nodes: &[NodeId],
    value: &Value,
    place: &Place<'_>,
    report: &mut R,
) -> Flow {
    let mut others = Vec::new();
    report.note(|| {
        let mut violations = Branches::of(run, nodes, value, place)
            .told(keyword)
            .into_iter();
        let first = violations.next();
        others.extend(violations);
        first.unwrap_or_else(|| {
            Violation::new(
                place.pointer(),
                keyword,
                expected(nodes.len()),
                shown::found(value),
            )
        })
    })?;
    others
        .into_iter()
        .try_for_each(|violation| report.note(|| violation))
}

/// The violations of every branch.
struct Branches<'v> {
    pointer: String,
    value: &'v Value,
    violations: Vec<Vec<Violation>>,
}

impl<'v> Branches<'v> {
    fn of(run: &mut Run<'_>, nodes: &[NodeId], value: &'v Value, place: &Place<'_>) -> Self {
        let violations = nodes
            .iter()
            .map(|node| {
                let mut collected = Collected::default();
                let _ = check(run, *node, value, place, &mut collected);
                collected.0
            })
            .collect();
        Self {
            pointer: place.pointer(),
            value,
            violations,
        }
    }

    fn told(mut self, keyword: Keyword) -> Vec<Violation> {
        let count = self.violations.len();
        if self.violations.iter().all(|branch| self.is_other(branch)) {
            return vec![self.joined(keyword)];
        }
        let pointer = self.pointer.clone();
        self.violations.retain(|branch| !is_other(branch, &pointer));
        if let Some(tag) = self.common_tag() {
            return vec![self.joined_tags(&tag)];
        }
        // A branch whose tag (a constant member) has another value was not meant.
        if self
            .violations
            .iter()
            .any(|branch| !has_other_tag(branch, &pointer))
        {
            self.violations
                .retain(|branch| !has_other_tag(branch, &pointer));
        }
        let closest = self
            .violations
            .iter()
            .min_by_key(|branch| branch.len())
            .cloned();
        let closest = closest.unwrap_or_default();
        if self.violations.len() == 1 {
            return closest;
        }
        let found = shown::found(self.value);
        vec![Violation::new(pointer, keyword, expected(count), found).because(closest)]
    }

    /// Whether the branch expects another kind of value, so that only its expectation is worth reporting.
    fn is_other(&self, branch: &[Violation]) -> bool {
        is_other(branch, &self.pointer)
    }

    /// The expectations of all branches, in one violation.
    fn joined(&self, keyword: Keyword) -> Violation {
        let all = || self.violations.iter().flatten();
        let mut wanted: Vec<&str> = Vec::new();
        for violation in all() {
            if !wanted.contains(&violation.expected.as_str()) {
                wanted.push(&violation.expected);
            }
        }
        let constants = constants(all());
        let is_constant = constants.len() == wanted.len() && constants.len() > 1;
        let expected = if is_constant {
            shown::choices(&constants)
        } else {
            wanted.join(" or ")
        };
        let nearest = nearest::choice(self.value, &constants)
            .or_else(|| all().find_map(|violation| violation.nearest.clone()));
        Violation::new(
            self.pointer.clone(),
            keyword,
            expected,
            shown::found(self.value),
        )
        .nearest(nearest)
    }

    /// The pointer of the member that violates a constant in every branch.
    fn common_tag(&self) -> Option<String> {
        let (first, rest) = self.violations.split_first()?;
        let tag = first
            .iter()
            .find(|violation| is_tag(violation, &self.pointer))?;
        let is_common = !rest.is_empty()
            && rest.iter().all(|branch| {
                branch
                    .iter()
                    .any(|other| is_tag(other, &self.pointer) && other.pointer == tag.pointer)
            });
        is_common.then(|| tag.pointer.clone())
    }

    fn joined_tags(&self, tag: &str) -> Violation {
        let tags = || {
            self.violations
                .iter()
                .flatten()
                .filter(|violation| violation.pointer == tag)
        };
        let constants = constants(tags());
        let found = self
            .value
            .pointer(&tag[self.pointer.len()..])
            .unwrap_or(&Value::Null);
        Violation::new(
            tag.to_owned(),
            Keyword::Const,
            shown::choices(&constants),
            shown::found(found),
        )
        .nearest(nearest::choice(found, &constants))
    }
}

fn is_other(branch: &[Violation], pointer: &str) -> bool {
    match branch {
        [only] => {
            only.pointer == pointer
                && matches!(
                    only.keyword,
                    Keyword::Type | Keyword::Const | Keyword::Enum | Keyword::Never
                )
        }
        _ => false,
    }
}

/// Whether a violation is about a constant member of the value.
fn is_tag(violation: &Violation, pointer: &str) -> bool {
    let is_member = violation.pointer.strip_prefix(pointer).is_some_and(|rest| {
        rest.strip_prefix('/')
            .is_some_and(|name| !name.contains('/'))
    });
    is_member && violation.keyword == Keyword::Const
}

fn has_other_tag(branch: &[Violation], pointer: &str) -> bool {
    branch.iter().any(|violation| is_tag(violation, pointer))
}

/// The constants that violations of `const` expected. They are taken from their JSON in the message; one that is too
/// long to be shown in full is left out.
fn constants<'v>(violations: impl Iterator<Item = &'v Violation>) -> Vec<Value> {
    violations
        .filter(|violation| violation.keyword == Keyword::Const)
        .filter_map(|violation| serde_json::from_str(&violation.expected).ok())
        .collect()
}

fn expected(alternatives: usize) -> String {
    format!("a value that matches one of {alternatives} alternatives")
}
