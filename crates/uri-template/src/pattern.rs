//! A template compiled for matching: a list of steps through the units of a URI.

use serde_json::Value;

use super::encode::Allow;
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::unit::{Unit, Units, decode, is_unreserved};

/// The form that a URI must have.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// The literal at the start of the template. It is separate, so that most URIs are rejected by it alone.
    pub(super) start: Vec<Unit>,
    /// The rest of the template. Every step leads to a later one.
    pub(super) steps: Vec<Step>,
}

/// One step through a URI.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Exactly these units.
    Literal(Vec<Unit>),
    /// One or more units that are the value of a variable.
    Capture(Capture),
    /// Pairs of name and value, with the delimiter before them.
    Pairs(Pairs),
    /// No units. The steps up to this one may be skipped.
    OrSkipTo(usize),
}

/// A variable that is identified by its position in the URI.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub(super) variable: Variable,
    pub(super) allow: Allow,
    /// The separator between the members, if the variable is exploded.
    pub(super) separator: char,
}

/// Variables that the URI names.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    pub(super) lead: char,
    pub(super) separator: char,
    /// Whether `{&…}` follows `{?…}`: if the variables of the first are absent, the pairs begin with `&`.
    pub(super) is_continued: bool,
    /// Each variable with its name as it is written in the URI.
    pub(super) variables: Vec<(Vec<Unit>, Variable)>,
}

impl Pattern {
    pub(super) fn new(parts: &[Part]) -> Self {
        let (start, parts) = match parts {
            [Part::Literal(text), rest @ ..] => (Units::new(text).collect(), rest),
            _ => (Vec::new(), parts),
        };
        let mut steps = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => steps.push(Step::Literal(Units::new(text).collect())),
                Part::Expression(expression) if expression.operator.is_named() => {
                    push_pairs(&mut steps, expression);
                }
                Part::Expression(expression) => push_captures(&mut steps, expression),
            }
        }
        Self { start, steps }
    }
}

impl Step {
    /// The names of its variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let (captured, named) = match self {
            Self::Capture(capture) => (Some(&capture.variable), &[][..]),
            Self::Pairs(pairs) => (None, &pairs.variables[..]),
            Self::Literal(_) | Self::OrSkipTo(_) => (None, &[][..]),
        };
        let named = named.iter().map(|(_, variable)| variable);
        captured.into_iter().chain(named).map(|it| it.name.as_str())
    }
}

impl Capture {
    /// Whether a unit can be part of this variable, or separate its members.
    pub(super) fn takes(&self, unit: Unit) -> bool {
        match unit {
            Unit::Escaped(_) => true,
            Unit::Plain(character) => {
                is_unreserved(character)
                    || self.allow == Allow::Reserved
                    || (self.is_list() && character == self.separator)
            }
            Unit::Octet(_) | Unit::Invalid => false,
        }
    }

    /// The value of these units. `None` if a member of a list is empty.
    pub(super) fn value(&self, units: &[Unit]) -> Option<Value> {
        if !self.is_list() {
            return decode(units).map(Value::String);
        }
        units
            .split(|unit| *unit == Unit::Plain(self.separator))
            .map(|member| {
                decode(member)
                    .filter(|text| !text.is_empty())
                    .map(Value::String)
            })
            .collect()
    }

    fn is_list(&self) -> bool {
        self.variable.modifier == Modifier::Explode
    }
}

impl Pairs {
    /// Whether the pairs can begin with this unit.
    pub(super) fn begin_at(&self, unit: Unit) -> bool {
        unit == Unit::Plain(self.lead) || (self.is_continued && unit == Unit::Plain(self.separator))
    }

    /// Whether the pairs end before this unit.
    pub(super) fn end_at(&self, unit: Unit) -> bool {
        match self.separator {
            ';' => matches!(unit, Unit::Plain('/' | '?' | '#')),
            _ => unit == Unit::Plain('#'),
        }
    }
}

fn push_captures(steps: &mut Vec<Step>, expression: &Expression) {
    let Expression {
        operator,
        variables,
    } = expression;
    let delimiter = |character| Step::Literal(vec![Unit::Plain(character)]);
    let mut skips = Vec::new();
    let mut lead = operator.lead();
    for variable in variables {
        if operator.lead().is_some() {
            skips.push(steps.len());
            steps.push(Step::OrSkipTo(0));
        }
        steps.extend(lead.map(delimiter));
        steps.push(Step::Capture(Capture {
            variable: variable.clone(),
            allow: operator.allow(),
            separator: operator.separator(),
        }));
        lead = Some(operator.separator());
    }
    // Values are identified by their position alone, so if one is missing, the later ones must be missing too.
    let end = steps.len();
    for skip in skips {
        steps[skip] = Step::OrSkipTo(end);
    }
}

fn push_pairs(steps: &mut Vec<Step>, expression: &Expression) {
    let Expression {
        operator,
        variables,
    } = expression;
    let named = variables
        .iter()
        .map(|variable| (Units::new(&variable.name).collect(), variable.clone()));
    if let (Operator::Continuation, Some(Step::Pairs(query))) = (operator, steps.last_mut())
        && query.separator == operator.separator()
    {
        query.variables.extend(named);
        query.is_continued = true;
        return;
    }
    let Some(lead) = operator.lead() else {
        return;
    };
    steps.push(Step::OrSkipTo(steps.len() + 2));
    let variables = named.collect();
    steps.push(Step::Pairs(Pairs {
        lead,
        separator: operator.separator(),
        is_continued: false,
        variables,
    }));
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn steps(template: &str) -> Vec<Step> {
        Pattern::new(&parse(template).expect(template)).steps
    }

    #[test]
    fn every_step_leads_forward() {
        for template in ["{/a,b,c}x", "{#a,b}", "{.a}{?b}{&c}", "{;a}{;b}", "{+a,b}"] {
            let steps = steps(template);
            for (index, step) in steps.iter().enumerate() {
                if let Step::OrSkipTo(target) = step {
                    assert!(
                        *target > index && *target <= steps.len(),
                        "{template}: {steps:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_query_and_its_continuation_are_one_step() {
        let steps = steps("{?a}{&b,c}");
        let [Step::OrSkipTo(2), Step::Pairs(pairs)] = steps.as_slice() else {
            panic!("{steps:?}");
        };
        let names: Vec<_> = pairs
            .variables
            .iter()
            .map(|(_, variable)| &variable.name)
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
