//! The state of one check: the remaining steps, the depth, and the entered resources. All check functions share it.

use std::ops::ControlFlow;

use serde_json::Value;

use super::apply::check;
use crate::limits::{
    MAX_BACKTRACKS, MAX_INSTANCE_DEPTH, MAX_NESTED_SCHEMAS, MAX_STEPS, MAX_VIOLATIONS,
};
use crate::node::{Node, NodeId, ResourceId};
use crate::pattern::{Cost, Pattern};
use crate::pointer;
use crate::violation::{Keyword, Violation};

/// Steps charged for one match of a pattern that may backtrack.
const BACKTRACKING_STEPS: u64 = 512;

/// Steps charged for a match that needed more backtracking than is allowed at first.
const PATIENT_STEPS: u64 = 500_000;

/// Bytes of a string that a linear pattern reads for one step.
const BYTES_PER_STEP: usize = 64;

/// `Break` if the check need not continue.
pub(crate) type Flow = ControlFlow<()>;

/// A limit that the check reached. The value then counts as invalid, for this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Steps,
    NestedSchemas,
    InstanceDepth,
    Backtracks,
}

/// The state of one check.
pub(crate) struct Run<'s> {
    nodes: &'s [Node],
    steps_left: u64,
    nested: usize,
    /// The resources that were entered and not left, outermost first; only kept if the schema has a `$dynamicRef`.
    entered: Vec<ResourceId>,
    has_dynamic_references: bool,
    limit: Option<Limit>,
}

/// The receiver of violations: a verdict, which never builds one, or a list.
pub(crate) trait Report {
    /// Notes a violation, and says whether to continue.
    fn note(&mut self, violation: impl FnOnce() -> Violation) -> Flow;
}

/// Valid or not: the first violation ends the check, and no violation is ever built.
pub(crate) struct Verdict;

/// The violations, up to [`MAX_VIOLATIONS`].
#[derive(Default)]
pub(crate) struct Collected(pub(crate) Vec<Violation>);

/// The position of a value in the instance, as a linked list on the stack: a step, and the position of the outer value.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    outer: Option<&'p Place<'p>>,
    step: Step<'p>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Name(&'p str),
    Position(usize),
}

impl<'s> Run<'s> {
    pub(crate) fn new(nodes: &'s [Node], has_dynamic_references: bool) -> Self {
        Self {
            nodes,
            steps_left: MAX_STEPS,
            nested: 0,
            entered: Vec::new(),
            has_dynamic_references,
            limit: None,
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &'s Node {
        &self.nodes[id.position()]
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Enters a node. The caller must call [`leave`](Self::leave) for every node entered without `Break`.
    pub(crate) fn enter(&mut self, id: NodeId, place: &Place<'_>) -> ControlFlow<(), &'s Node> {
        self.spend(1)?;
        if self.nested >= MAX_NESTED_SCHEMAS {
            return self.stop(Limit::NestedSchemas);
        }
        if place.depth > MAX_INSTANCE_DEPTH {
            return self.stop(Limit::InstanceDepth);
        }
        self.nested += 1;
        let node = self.node(id);
        if self.has_dynamic_references {
            self.entered.push(node.resource);
        }
        ControlFlow::Continue(node)
    }

    pub(crate) fn leave(&mut self) {
        self.nested -= 1;
        if self.has_dynamic_references {
            self.entered.pop();
        }
    }

    /// The first result of `choose` among the entered resources, from the outermost in.
    pub(crate) fn outermost<T>(&self, choose: impl Fn(ResourceId) -> Option<T>) -> Option<T> {
        self.entered.iter().find_map(|resource| choose(*resource))
    }

    /// Spends steps; `Break` if too few are left.
    pub(crate) fn spend(&mut self, steps: u64) -> Flow {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                ControlFlow::Continue(())
            }
            None => self.stop(Limit::Steps),
        }
    }

    /// Spends the steps for looking at a list of this many values.
    pub(crate) fn spend_list(&mut self, length: usize) -> Flow {
        self.spend(1 + length as u64 / 8)
    }

    /// Whether a pattern matches. If the engine gives up, this counts as no match and sets the limit.
    pub(crate) fn matches(&mut self, pattern: &Pattern, text: &str) -> bool {
        let steps = match pattern.cost() {
            Cost::Linear => 1 + (text.len() / BYTES_PER_STEP) as u64,
            Cost::Backtracking => BACKTRACKING_STEPS + text.len() as u64,
        };
        if self.spend(steps).is_break() {
            return false;
        }
        if let Ok(is_match) = pattern.is_match(text) {
            return is_match;
        }
        if self.spend(PATIENT_STEPS).is_break() {
            return false;
        }
        let matched = pattern.is_match_at_length(text);
        if matched.is_err() {
            let _: Flow = self.stop(Limit::Backtracks);
        }
        matched.unwrap_or(false)
    }

    /// Whether a value satisfies a node, without a report.
    pub(crate) fn holds(&mut self, id: NodeId, value: &Value, place: &Place<'_>) -> bool {
        check(self, id, value, place, &mut Verdict).is_continue()
    }

    fn stop<T>(&mut self, limit: Limit) -> ControlFlow<(), T> {
        self.limit.get_or_insert(limit);
        // The verdict is certain now, so the rest of the check must not cost anything more.
        self.steps_left = 0;
        ControlFlow::Break(())
    }
}

impl Report for Verdict {
    fn note(&mut self, _: impl FnOnce() -> Violation) -> Flow {
        ControlFlow::Break(())
    }
}

impl Report for Collected {
    fn note(&mut self, violation: impl FnOnce() -> Violation) -> Flow {
        self.0.push(violation());
        if self.0.len() < MAX_VIOLATIONS {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl Limit {
    /// The limit as a violation of the whole instance.
    pub(crate) fn violation(self) -> Violation {
        let (expected, found) = match self {
            Self::Steps => (
                format!("a value that can be checked in {MAX_STEPS} steps"),
                "more work than that".to_owned(),
            ),
            Self::NestedSchemas => (
                format!(
                    "a value that needs at most {MAX_NESTED_SCHEMAS} schemas within one another"
                ),
                "more than that".to_owned(),
            ),
            Self::InstanceDepth => (
                format!("at most {MAX_INSTANCE_DEPTH} levels of nesting"),
                "more levels".to_owned(),
            ),
            Self::Backtracks => (
                format!("strings that a pattern can match in {MAX_BACKTRACKS} backtracking steps"),
                "a string that needs more".to_owned(),
            ),
        };
        Violation::new(String::new(), Keyword::Limit, expected, found)
    }
}

impl<'p> Place<'p> {
    pub(crate) const ROOT: Place<'static> = Place {
        outer: None,
        step: Step::Root,
        depth: 1,
    };

    pub(crate) fn name(&'p self, name: &'p str) -> Self {
        Self {
            outer: Some(self),
            step: Step::Name(name),
            depth: self.depth + 1,
        }
    }

    pub(crate) fn position(&'p self, position: usize) -> Self {
        Self {
            outer: Some(self),
            step: Step::Position(position),
            depth: self.depth + 1,
        }
    }

    /// The JSON pointer of this place.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.outer.map(Place::pointer).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Name(name) => pointer::push(&mut pointer, name),
            Step::Position(position) => {
                pointer::push(&mut pointer, &position.to_string());
            }
        }
        pointer
    }
}
