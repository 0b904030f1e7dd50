//! Writes a tree in the syntax of the engine. Characters that could have a special meaning there are written
//! as numbers, so that nothing depends on which characters are special.

use std::fmt::Write as _;

use super::Cost;
use super::tree::{Alternatives, Class, Member, Sense, Term};

/// White space and line ends of ECMA-262.
const SPACE: &str = r"\x{9}-\x{D}\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
const DIGIT: &str = "0-9";
const WORD: &str = r"0-9A-Za-z\x{5F}";
const DOT: &str = r"[^\x{A}\x{D}\x{2028}\x{2029}]";
const ANYTHING: &str = r"[\x{0}-\x{10FFFF}]";
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";
const BOUNDARY: &str =
    r"(?:(?<=[0-9A-Za-z\x{5F}])(?![0-9A-Za-z\x{5F}])|(?<![0-9A-Za-z\x{5F}])(?=[0-9A-Za-z\x{5F}]))";
const NO_BOUNDARY: &str =
    r"(?:(?<=[0-9A-Za-z\x{5F}])(?=[0-9A-Za-z\x{5F}])|(?<![0-9A-Za-z\x{5F}])(?![0-9A-Za-z\x{5F}]))";

/// States of a class that matches almost any character, since the engine's automata read bytes of UTF-8.
const STATES_OF_DOT: usize = 10;
/// States of a property such as `\p{L}`.
const STATES_OF_PROPERTY: usize = 400;
/// States of a word boundary, which is four look-arounds.
const STATES_OF_BOUNDARY: usize = 8;

pub(super) fn emit(tree: &Alternatives) -> String {
    let mut text = String::new();
    alternatives(tree, &mut text);
    text
}

pub(super) fn cost(tree: &Alternatives) -> Cost {
    if tree.iter().flatten().any(is_costly) {
        Cost::Backtracking
    } else {
        Cost::Linear
    }
}

fn is_costly(term: &Term) -> bool {
    match term {
        Term::WordBoundary(_) | Term::Look(..) | Term::Back(_) => true,
        Term::Group(_, body) => body.iter().flatten().any(is_costly),
        Term::Repeat(repeated, _) => is_costly(repeated),
        _ => false,
    }
}

/// About how many states the engine's automata for a pattern have, with repetitions expanded.
///
/// The engine builds one automaton for each part of a pattern with look-around, and does not limit those of
/// look-behind, so that a pattern of a few bytes could take gigabytes.
pub(super) fn states(tree: &Alternatives) -> usize {
    let terms = tree.iter().flatten().map(states_of);
    terms.fold(tree.len(), usize::saturating_add)
}

fn states_of(term: &Term) -> usize {
    match term {
        Term::Char(one) => one.len_utf8(),
        Term::Dot => STATES_OF_DOT,
        Term::Class(class) => states_of_class(class),
        Term::Start | Term::End | Term::Flag(_) | Term::Back(_) => 1,
        Term::WordBoundary(_) => STATES_OF_BOUNDARY,
        Term::Group(_, body) | Term::Look(_, body) => states(body),
        // The engine counts these repetitions instead of expanding them.
        Term::Repeat(repeated, _) if is_costly(repeated) => states_of(repeated),
        Term::Repeat(repeated, repeat) => {
            let times = repeat.most.unwrap_or(repeat.least).max(1) as usize;
            states_of(repeated).saturating_mul(times)
        }
    }
}

fn states_of_class(class: &Class) -> usize {
    let members = class.members.iter().map(|member| match member {
        Member::Range(_, last) if last.is_ascii() => 0,
        Member::Digit(Sense::Is) | Member::Word(Sense::Is) => 0,
        Member::Property(..) => STATES_OF_PROPERTY,
        _ => STATES_OF_DOT,
    });
    let outside = match class.sense {
        Sense::Is => 1,
        Sense::IsNot => STATES_OF_DOT,
    };
    // Members of one class share states.
    outside + members.max().unwrap_or(0)
}

fn alternatives(tree: &Alternatives, text: &mut String) {
    for (position, terms) in tree.iter().enumerate() {
        if position > 0 {
            text.push('|');
        }
        for next in terms {
            term(next, text);
        }
    }
}

fn term(next: &Term, text: &mut String) {
    match next {
        Term::Char(one) => character(*one, text),
        Term::Dot => text.push_str(DOT),
        Term::Class(next) => class(next, text),
        Term::Start => text.push('^'),
        Term::End => text.push('$'),
        Term::WordBoundary(Sense::Is) => text.push_str(BOUNDARY),
        Term::WordBoundary(Sense::IsNot) => text.push_str(NO_BOUNDARY),
        Term::Flag(flag) | Term::Back(flag) => text.push_str(flag),
        Term::Group(open, body) => group(open, body, text),
        Term::Look(open, body) => group(open, body, text),
        // The engine refuses to repeat nothing, and it stays nothing however often it is repeated.
        Term::Repeat(repeated, _) if is_empty(repeated) => term(repeated, text),
        Term::Repeat(repeated, repeat) => {
            term(repeated, text);
            let _ = match repeat.most {
                Some(most) if most == repeat.least => write!(text, "{{{most}}}"),
                Some(most) => write!(text, "{{{},{most}}}", repeat.least),
                None => write!(text, "{{{},}}", repeat.least),
            };
            if repeat.is_lazy {
                text.push('?');
            }
        }
    }
}

/// Whether a term has nothing in it: an empty group without a number, or such groups in another.
fn is_empty(term: &Term) -> bool {
    match term {
        Term::Group(open, body) => {
            let has_number = open == "(" || open.starts_with("(?<");
            !has_number && matches!(&**body, [terms] if terms.iter().all(is_empty))
        }
        Term::Repeat(repeated, _) => is_empty(repeated),
        _ => false,
    }
}

fn group(open: &str, body: &Alternatives, text: &mut String) {
    text.push_str(open);
    alternatives(body, text);
    text.push(')');
}

fn class(class: &Class, text: &mut String) {
    if class.members.is_empty() {
        text.push_str(if class.sense == Sense::Is {
            NOTHING
        } else {
            ANYTHING
        });
        return;
    }
    text.push_str(if class.sense == Sense::Is { "[" } else { "[^" });
    for next in &class.members {
        member(next, text);
    }
    text.push(']');
}

fn member(member: &Member, text: &mut String) {
    match member {
        Member::Range(first, last) => {
            character(*first, text);
            if first != last {
                text.push('-');
                character(*last, text);
            }
        }
        Member::Digit(sense) => set(DIGIT, *sense, text),
        Member::Word(sense) => set(WORD, *sense, text),
        Member::Space(sense) => set(SPACE, *sense, text),
        Member::Property(sense, name) => {
            text.push_str(if *sense == Sense::Is { r"\p{" } else { r"\P{" });
            text.push_str(name);
            text.push('}');
        }
    }
}

fn set(members: &str, sense: Sense, text: &mut String) {
    text.push_str(if sense == Sense::Is { "[" } else { "[^" });
    text.push_str(members);
    text.push(']');
}

fn character(one: char, text: &mut String) {
    if one.is_alphanumeric() {
        text.push(one);
    } else {
        let _ = write!(text, "\\x{{{:X}}}", u32::from(one));
    }
}
