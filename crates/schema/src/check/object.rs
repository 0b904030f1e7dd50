//! Checks an object.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::apply::check;
use super::run::{Flow, Place, Report, Run};
use crate::nearest;
use crate::node::{NodeId, ObjectRules};
use crate::shown;
use crate::violation::{Keyword, Violation};

type Members = Map<String, Value>;

impl ObjectRules {
    /// The schemas of this object that apply to the member with this name; empty if only `additionalProperties` might.
    pub(crate) fn schemas(&self, run: &mut Run<'_>, name: &str) -> Vec<NodeId> {
        let matching = self
            .patterns
            .iter()
            .filter(|(pattern, _)| run.matches(pattern, name));
        self.property(name)
            .into_iter()
            .chain(matching.map(|(_, node)| *node))
            .collect()
    }

    /// Whether this object evaluates the member with this name.
    pub(crate) fn evaluates(&self, run: &mut Run<'_>, name: &str) -> bool {
        self.additional.is_some()
            || self.property(name).is_some()
            || self
                .patterns
                .iter()
                .any(|(pattern, _)| run.matches(pattern, name))
    }

    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        members: &Members,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        run.spend_list(members.len())?;
        let mut required_seen = 0;
        for (name, value) in members {
            let known = self.name(name);
            required_seen += usize::from(known.is_some_and(|known| known.is_required));
            let property = known.and_then(|known| known.schema);
            self.check_member(run, (name, value, property), members, place, report)?;
        }
        if required_seen < self.required.len() {
            self.report_missing(members, place, report)?;
        }
        self.check_counts(members, place, report)?;
        self.check_dependents(members, place, report)
    }

    fn check_member<R: Report>(
        &self,
        run: &mut Run<'_>,
        (name, value, property): (&str, &Value, Option<NodeId>),
        members: &Members,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let inner = place.name(name);
        let mut is_known = property.is_some();
        if let Some(node) = property {
            check(run, node, value, &inner, report)?;
        }
        for (pattern, node) in &self.patterns {
            if run.matches(pattern, name) {
                is_known = true;
                check(run, *node, value, &inner, report)?;
            }
        }
        if let (false, Some(additional)) = (is_known, self.additional) {
            if run.node(additional).is_never {
                report
                    .note(|| self.unknown(Keyword::AdditionalProperties, name, members, &inner))?;
            } else {
                check(run, additional, value, &inner, report)?;
            }
        }
        match self.property_names {
            // The name has to be converted to a value; only schemas with this rare keyword pay for it.
            Some(node) => check(run, node, &Value::String(name.to_owned()), &inner, report),
            None => ControlFlow::Continue(()),
        }
    }

    /// The violation for a member that is not allowed, with the name that was perhaps meant.
    pub(crate) fn unknown(
        &self,
        keyword: Keyword,
        name: &str,
        members: &Members,
        place: &Place<'_>,
    ) -> Violation {
        let free = self
            .declared()
            .filter(|declared| !members.contains_key(*declared));
        let nearest = nearest::name(name, free).map(|name| format!("`{name}`"));
        let expected = if self.declared.is_empty() {
            "no other properties".to_owned()
        } else {
            format!("only the properties {}", shown::names(self.declared()))
        };
        let found = format!("the unknown property `{}`", shown::shortened(name));
        Violation::new(place.pointer(), keyword, expected, found).nearest(nearest)
    }

    fn report_missing<R: Report>(
        &self,
        members: &Members,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        for name in self.required().filter(|name| !members.contains_key(*name)) {
            report.note(|| {
                let strays = members.keys().map(String::as_str);
                let strays = strays.filter(|stray| self.property(stray).is_none());
                let nearest = nearest::name(name, strays).map(|stray| format!("`{stray}`"));
                let expected = format!("the property `{}`", shown::shortened(name));
                let found = if members.is_empty() {
                    "an empty object".to_owned()
                } else {
                    format!("only {}", shown::names(members.keys().map(String::as_str)))
                };
                Violation::new(place.pointer(), Keyword::Required, expected, found).nearest(nearest)
            })?;
        }
        ControlFlow::Continue(())
    }

    fn check_counts<R: Report>(
        &self,
        members: &Members,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let length = members.len() as u64;
        let most = self.most.unwrap_or(u64::MAX);
        let (keyword, relation, bound) = if length < self.least {
            (Keyword::MinProperties, "at least", self.least)
        } else if length > most {
            (Keyword::MaxProperties, "at most", most)
        } else {
            return ControlFlow::Continue(());
        };
        report.note(|| {
            let expected = format!("an object of {relation} {bound} properties");
            Violation::new(
                place.pointer(),
                keyword,
                expected,
                format!("{length} properties"),
            )
        })
    }

    fn check_dependents<R: Report>(
        &self,
        members: &Members,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let present = self
            .dependent_required
            .iter()
            .filter(|(name, _)| members.contains_key(&**name));
        for (name, needed) in present {
            for missing in needed
                .iter()
                .filter(|needed| !members.contains_key(&***needed))
            {
                report.note(|| {
                    let expected = format!("the property `{missing}` beside `{name}`");
                    let found = format!("`{name}` without it");
                    Violation::new(place.pointer(), Keyword::DependentRequired, expected, found)
                })?;
            }
        }
        ControlFlow::Continue(())
    }
}
