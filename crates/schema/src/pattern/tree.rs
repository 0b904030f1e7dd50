//! A regular expression of ECMA-262 as a tree.

/// Alternatives, each a sequence of terms.
pub(super) type Alternatives = Vec<Vec<Term>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Char(char),
    /// Any character except the four line ends.
    Dot,
    Class(Class),
    Start,
    End,
    WordBoundary(Sense),
    /// A group, with its opening text, which is the same in both dialects: `(`, `(?:`, `(?<name>`, `(?i:`.
    Group(String, Alternatives),
    /// A look-around, with its opening text.
    Look(&'static str, Alternatives),
    /// A flag for the rest of the pattern: `(?i)`.
    Flag(String),
    /// A back-reference as the engine writes it.
    Back(String),
    Repeat(Box<Term>, Repeat),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Is,
    IsNot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) sense: Sense,
    pub(super) members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Range(char, char),
    Digit(Sense),
    Word(Sense),
    Space(Sense),
    Property(Sense, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) is_lazy: bool,
}

impl Class {
    pub(super) fn single(member: Member) -> Self {
        Self {
            sense: Sense::Is,
            members: vec![member],
        }
    }
}
