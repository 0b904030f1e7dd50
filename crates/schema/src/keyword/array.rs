//! Keywords for arrays: `prefixItems`, `items`, `contains` and its counts, lengths, and
//! `uniqueItems`. Draft-07 writes the first two as a list in `items` and `additionalItems`.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::check::check;
use crate::compile::Compiler;
use crate::dialect::{Dialect, count};
use crate::equal;
use crate::node::NodeId;
use crate::run::{Flow, Place, Report, Run};
use crate::violation::{Keyword, Violation};

#[derive(Debug)]
pub(crate) struct ArrayRules {
    /// Schemas of the first items, each of its own.
    pub(crate) prefix: Box<[NodeId]>,
    /// The schema of all items after those.
    pub(crate) items: Option<NodeId>,
    pub(crate) contains: Option<Contains>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) is_unique: bool,
}

#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) node: NodeId,
    pub(crate) least: u64,
    most: Option<u64>,
}

impl ArrayRules {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Option<Box<Self>> {
        let (prefix, items) = match (compiler.dialect(), schema.get("items")) {
            (Dialect::Draft07, Some(Value::Array(list))) => {
                (Some(list), schema.get("additionalItems"))
            }
            (Dialect::Draft07, items) => (None, items),
            (Dialect::Draft202012, items) => {
                (schema.get("prefixItems").and_then(Value::as_array), items)
            }
        };
        let rules = Self {
            prefix: prefix
                .into_iter()
                .flatten()
                .map(|item| compiler.node(item))
                .collect(),
            items: items.map(|items| compiler.node(items)),
            contains: schema
                .get("contains")
                .map(|node| Contains::read(node, schema, compiler)),
            least: schema.get("minItems").and_then(count).unwrap_or(0),
            most: schema.get("maxItems").and_then(count),
            is_unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
        };
        let is_empty = rules.prefix.is_empty()
            && rules.items.is_none()
            && rules.contains.is_none()
            && rules.least == 0
            && rules.most.is_none()
            && !rules.is_unique;
        (!is_empty).then(|| Box::new(rules))
    }

    pub(crate) fn rename(&mut self, rename: impl Fn(NodeId) -> NodeId) {
        let contains = self.contains.as_mut().map(|contains| &mut contains.node);
        for node in self
            .prefix
            .iter_mut()
            .chain(self.items.as_mut())
            .chain(contains)
        {
            *node = rename(*node);
        }
    }

    /// The schema of the item at a position.
    pub(crate) fn item(&self, position: usize) -> Option<NodeId> {
        self.prefix.get(position).copied().or(self.items)
    }

    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        items: &[Value],
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        run.spend_list(items.len())?;
        self.check_length(items, place, report)?;
        for (position, item) in items.iter().enumerate() {
            let Some(node) = self.item(position) else {
                break;
            };
            check(run, node, item, &place.position(position), report)?;
        }
        if let Some(contains) = &self.contains {
            contains.check(run, items, place, report)?;
        }
        if self.is_unique {
            run.spend_list(items.len())?;
            if let Some((earlier, later)) = equal::duplicate(items) {
                report.note(|| {
                    let expected = "items that all differ".to_owned();
                    let found = format!("the items {earlier} and {later} equal");
                    Violation::new(place.pointer(), Keyword::UniqueItems, expected, found)
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn check_length<R: Report>(&self, items: &[Value], place: &Place<'_>, report: &mut R) -> Flow {
        let length = items.len() as u64;
        let most = self.most.unwrap_or(u64::MAX);
        let (keyword, relation, bound) = if length < self.least {
            (Keyword::MinItems, "at least", self.least)
        } else if length > most {
            (Keyword::MaxItems, "at most", most)
        } else {
            return ControlFlow::Continue(());
        };
        report.note(|| {
            let expected = format!("an array of {relation} {bound} items");
            Violation::new(
                place.pointer(),
                keyword,
                expected,
                format!("{length} items"),
            )
        })
    }
}

impl Contains {
    fn read<'s>(
        node: &'s Value,
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Self {
        let knows_counts = compiler.dialect() == Dialect::Draft202012;
        let bound = |keyword: &str| schema.get(keyword).and_then(count).filter(|_| knows_counts);
        Self {
            node: compiler.node(node),
            least: bound("minContains").unwrap_or(1),
            most: bound("maxContains"),
        }
    }

    fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        items: &[Value],
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let mut matching = 0;
        for (position, item) in items.iter().enumerate() {
            if self.most.is_none() && matching >= self.least {
                break;
            }
            matching += u64::from(run.holds(self.node, item, &place.position(position)));
        }
        let most = self.most.unwrap_or(u64::MAX);
        let (keyword, relation, bound) = if matching < self.least {
            (Keyword::Contains, "at least", self.least)
        } else if matching > most {
            (Keyword::MaxContains, "at most", most)
        } else {
            return ControlFlow::Continue(());
        };
        report.note(|| {
            let wanted = crate::describe::node(run, self.node);
            let expected = format!("{relation} {bound} of the items to be {wanted}");
            Violation::new(
                place.pointer(),
                keyword,
                expected,
                format!("{matching} such items"),
            )
        })
    }
}
