//! The parts of a template: literals, and expressions with their operator and variables.

use super::encode::Allow;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Literal text.
    Literal(String),
    /// The text between `{` and `}`.
    Expression(Expression),
}

/// One `{…}`.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) operator: Operator,
    pub(super) variables: Vec<Variable>,
}

/// One name in an expression.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// The name as written: RFC 6570 (2.3) does not decode percent-encoding in names.
    pub(super) name: String,
    pub(super) modifier: Modifier,
}

/// How much of a variable's value an expression contains, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    /// `{name}`: the value, with its members joined by commas.
    Whole,
    /// `{name:3}`: at most this many characters from the start of the value.
    Prefix(usize),
    /// `{name*}`: each member of the value separately.
    Explode,
}

/// The character after `{`, which decides the delimiters and the encoding of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `{name}`
    Simple,
    /// `{+name}`
    Reserved,
    /// `{#name}`
    Fragment,
    /// `{.name}`
    Label,
    /// `{/name}`
    Path,
    /// `{;name}`
    Parameter,
    /// `{?name}`
    Query,
    /// `{&name}`
    Continuation,
}

impl Modifier {
    /// How many characters of a value the expression contains at most.
    pub(super) fn limit(self) -> usize {
        match self {
            Modifier::Prefix(length) => length,
            Modifier::Whole | Modifier::Explode => usize::MAX,
        }
    }
}

impl Operator {
    /// The character before the first defined value.
    pub(super) fn lead(self) -> Option<char> {
        match self {
            Operator::Simple | Operator::Reserved => None,
            Operator::Fragment => Some('#'),
            Operator::Label => Some('.'),
            Operator::Path => Some('/'),
            Operator::Parameter => Some(';'),
            Operator::Query => Some('?'),
            Operator::Continuation => Some('&'),
        }
    }

    /// The separator between two values.
    pub(super) fn separator(self) -> char {
        match self {
            Operator::Simple | Operator::Reserved | Operator::Fragment => ',',
            Operator::Label => '.',
            Operator::Path => '/',
            Operator::Parameter => ';',
            Operator::Query | Operator::Continuation => '&',
        }
    }

    /// Whether values are written as `name=value`.
    pub(super) fn is_named(self) -> bool {
        matches!(
            self,
            Operator::Parameter | Operator::Query | Operator::Continuation
        )
    }

    /// The characters of a value that go into the URI unchanged.
    pub(super) fn allow(self) -> Allow {
        match self {
            Operator::Reserved | Operator::Fragment => Allow::Reserved,
            _ => Allow::Unreserved,
        }
    }
}
