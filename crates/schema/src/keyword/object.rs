//! Keywords for objects: `properties`, `patternProperties`, `additionalProperties`,
//! `propertyNames`, `required`, `dependentRequired` and the counts.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::check::check;
use crate::compile::Compiler;
use crate::dialect::count;
use crate::error::SchemaError;
use crate::nearest;
use crate::node::NodeId;
use crate::pattern::Pattern;
use crate::run::{Flow, Place, Report, Run};
use crate::shown;
use crate::violation::{Keyword, Violation};

type Members = Map<String, Value>;

type Names = Box<[Box<str>]>;

#[derive(Debug)]
pub(crate) struct ObjectRules {
    /// Every name that `properties` or `required` speaks of, sorted, so that one look-up serves
    /// both.
    known: Box<[Known]>,
    /// The names of `properties` as the author ordered them.
    declared: Names,
    /// The names of `required`, in order, each once.
    required: Names,
    patterns: Box<[(Arc<Pattern>, NodeId)]>,
    pub(crate) additional: Option<NodeId>,
    property_names: Option<NodeId>,
    dependent_required: Box<[(Box<str>, Names)]>,
    pub(crate) least: u64,
    most: Option<u64>,
}

#[derive(Debug)]
struct Known {
    name: Box<str>,
    schema: Option<NodeId>,
    is_required: bool,
}

impl ObjectRules {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Result<Option<Box<Self>>, SchemaError> {
        let members = |keyword: &str| {
            schema
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        let mut required: Vec<Box<str>> = Vec::new();
        for name in strings(schema.get("required")) {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        let mut patterns = Vec::new();
        for (source, inner) in members("patternProperties") {
            patterns.push((compiler.pattern(source)?, compiler.node(inner)));
        }
        let declared = members("properties")
            .map(|(name, _)| name.as_str().into())
            .collect();
        let rules = Self {
            known: known(members("properties"), &required, compiler),
            declared,
            required: required.into(),
            patterns: patterns.into(),
            additional: schema
                .get("additionalProperties")
                .map(|inner| compiler.node(inner)),
            property_names: schema
                .get("propertyNames")
                .map(|inner| compiler.node(inner)),
            dependent_required: compiler
                .dependent_names(schema)
                .map(|(name, needed)| (name.as_str().into(), strings(Some(needed)).collect()))
                .collect(),
            least: schema.get("minProperties").and_then(count).unwrap_or(0),
            most: schema.get("maxProperties").and_then(count),
        };
        Ok((!rules.is_empty()).then(|| Box::new(rules)))
    }

    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let properties = self
            .known
            .iter_mut()
            .filter_map(|name| name.schema.as_mut());
        let patterns = self.patterns.iter_mut().map(|(_, node)| node);
        let others = [self.additional.as_mut(), self.property_names.as_mut()];
        for node in properties
            .chain(patterns)
            .chain(others.into_iter().flatten())
        {
            *node = rename(*node);
        }
    }

    /// The declared names, in the author's order.
    pub(crate) fn declared(&self) -> impl ExactSizeIterator<Item = &str> {
        self.declared.iter().map(|name| &**name)
    }

    /// The required names, in the author's order.
    pub(crate) fn required(&self) -> impl ExactSizeIterator<Item = &str> {
        self.required.iter().map(|name| &**name)
    }

    /// The patterns of names, each with its schema.
    pub(crate) fn patterns(&self) -> &[(Arc<Pattern>, NodeId)] {
        &self.patterns
    }

    pub(crate) fn is_required(&self, name: &str) -> bool {
        self.name(name).is_some_and(|name| name.is_required)
    }

    /// The schema that `properties` has for a name.
    pub(crate) fn property(&self, name: &str) -> Option<NodeId> {
        self.name(name).and_then(|name| name.schema)
    }

    /// The schemas of this object that apply to the member of a name; none if only
    /// `additionalProperties` would.
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

    /// Whether only names and the schemas of members are ruled.
    pub(crate) fn is_simple(&self) -> bool {
        self.patterns.is_empty()
            && self.property_names.is_none()
            && self.dependent_required.is_empty()
            && self.least == 0
            && self.most.is_none()
    }

    /// Whether this object says something about the member of a name.
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
            // The name has to become a value; only schemas with this rare keyword pay for it.
            Some(node) => check(run, node, &Value::String(name.to_owned()), &inner, report),
            None => ControlFlow::Continue(()),
        }
    }

    /// A member that nothing allows, with the name that was perhaps meant.
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
            "no such property".to_owned()
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

    fn name(&self, name: &str) -> Option<&Known> {
        let found = self
            .known
            .binary_search_by(|known| order(&known.name, name));
        found.ok().map(|position| &self.known[position])
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.property_names.is_none()
            && self.dependent_required.is_empty()
            && self.least == 0
            && self.most.is_none()
    }
}

fn known<'s>(
    properties: impl Iterator<Item = (&'s String, &'s Value)>,
    required: &[Box<str>],
    compiler: &mut Compiler<'s>,
) -> Box<[Known]> {
    let mut names: Vec<Known> = properties
        .map(|(name, inner)| Known {
            name: name.as_str().into(),
            schema: Some(compiler.node(inner)),
            is_required: false,
        })
        .collect();
    names.sort_by(|left, right| order(&left.name, &right.name));
    let mut strangers = Vec::new();
    for name in required {
        match names.binary_search_by(|known| order(&known.name, name)) {
            Ok(position) => names[position].is_required = true,
            Err(_) => {
                strangers.push(Known {
                    name: name.clone(),
                    schema: None,
                    is_required: true,
                });
            }
        }
    }
    names.extend(strangers);
    names.sort_by(|left, right| order(&left.name, &right.name));
    names.into()
}

/// Short names before long ones: most comparisons then end at the length and read no text.
fn order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = Box<str>> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Box::from)
}
