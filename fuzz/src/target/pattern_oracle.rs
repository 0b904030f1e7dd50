//! A matcher for the common part of ECMA-262's regular expressions (with the `u` flag), to compare with.
//!
//! It works with a set of positions in the text, one bit for each, and computes for each term where a match may end.
//! It uses no backtracking, no automaton and no compilation, so it cannot have the mistakes of these. It does not
//! judge patterns that it does not know.

use std::{cell::Cell, iter::Peekable, str::Chars};

/// The longest text, in characters: a set of positions has to fit into a word.
const MAX_TEXT: usize = 62;

/// The highest count of a repetition.
const MAX_COUNT: u32 = 1000;

/// The size up to which a pattern must be accepted, in terms with repetitions expanded.
const SMALL: usize = 200;

/// How many terms are evaluated before this gives up.
const MAX_STEPS: u32 = 50_000;

/// Levels of nested groups.
const MAX_DEPTH: u32 = 20;

pub struct Oracle(Alternatives);

type Alternatives = Vec<Vec<Term>>;

enum Term {
    One(Class),
    Start,
    End,
    /// `\b` or `\B`.
    Boundary {
        is_there: bool,
    },
    Look {
        is_behind: bool,
        is_there: bool,
        inner: Alternatives,
    },
    Group(Alternatives),
    Repeat {
        term: Box<Term>,
        least: u32,
        most: Option<u32>,
    },
}

#[derive(Default)]
struct Class {
    is_negated: bool,
    members: Vec<Member>,
}

enum Member {
    Range(char, char),
    /// `\d`, `\w` or `\s`; the capital letter means all other characters.
    Named(char),
}

impl Member {
    fn has(&self, c: char) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&c),
            Self::Named('d') => c.is_ascii_digit(),
            Self::Named('w') => is_word(c),
            Self::Named('s') => (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}',
            Self::Named(capital) => !Self::Named(capital.to_ascii_lowercase()).has(c),
        }
    }
}

impl Class {
    fn of(member: Member) -> Self {
        Self {
            is_negated: false,
            members: vec![member],
        }
    }

    fn has(&self, c: char) -> bool {
        self.members.iter().any(|member| member.has(c)) != self.is_negated
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Oracle {
    /// Parses a pattern. `None` if it uses anything outside the common part.
    pub fn parse(pattern: &str) -> Option<Self> {
        let mut parser = Parser {
            rest: pattern.chars().peekable(),
            depth: 0,
        };
        let alternatives = parser.alternatives()?;
        parser.rest.next().is_none().then_some(Self(alternatives))
    }

    /// Whether every engine must accept it.
    pub fn is_small(&self) -> bool {
        weight(&self.0) <= SMALL
    }

    /// Whether it matches somewhere in the text. `None` if that takes too long.
    pub fn matches(&self, text: &str) -> Option<bool> {
        let text: Vec<char> = text.chars().collect();
        if text.len() > MAX_TEXT {
            return None;
        }
        let all = (1 << (text.len() + 1)) - 1;
        let matcher = Matcher {
            text,
            steps: Cell::new(0),
        };
        let ends = matcher.any(&self.0, all);
        (matcher.steps.get() < MAX_STEPS).then_some(ends != 0)
    }
}

fn weight(alternatives: &Alternatives) -> usize {
    let terms = alternatives.iter().flatten();
    terms.map(weight_of).fold(1, usize::saturating_add)
}

fn weight_of(term: &Term) -> usize {
    match term {
        // The engine rejects a look-behind that can have more than one length.
        Term::Look {
            is_behind: true, ..
        } => usize::MAX,
        Term::Group(inner) | Term::Look { inner, .. } => weight(inner),
        Term::Repeat { term, least, most } => {
            let count = most.unwrap_or(*least).max(1) as usize;
            weight_of(term).saturating_mul(count)
        }
        Term::One(class) => 1 + class.members.len(),
        Term::Start | Term::End | Term::Boundary { .. } => 1,
    }
}

struct Matcher {
    text: Vec<char>,
    steps: Cell<u32>,
}

impl Matcher {
    /// The positions at which matches end that begin at one of these positions.
    fn any(&self, alternatives: &Alternatives, starts: u64) -> u64 {
        let ends = alternatives
            .iter()
            .map(|terms| terms.iter().fold(starts, |at, term| self.one(term, at)));
        ends.fold(0, |all, ends| all | ends)
    }

    fn one(&self, term: &Term, starts: u64) -> u64 {
        self.steps.set(self.steps.get() + 1);
        if starts == 0 || self.steps.get() >= MAX_STEPS {
            return 0;
        }
        match term {
            Term::One(class) => {
                self.places(starts, |at| {
                    self.text.get(at).is_some_and(|c| class.has(*c))
                }) << 1
            }
            Term::Start => starts & 1,
            Term::End => starts & (1 << self.text.len()),
            Term::Boundary { is_there } => {
                self.places(starts, |at| self.is_boundary(at) == *is_there)
            }
            Term::Look {
                is_behind,
                is_there,
                inner,
            } => self.places(starts, |at| self.sees(inner, at, *is_behind) == *is_there),
            Term::Group(inner) => self.any(inner, starts),
            Term::Repeat { term, least, most } => self.repeat(term, *least, *most, starts),
        }
    }

    fn repeat(&self, term: &Term, least: u32, most: Option<u32>, starts: u64) -> u64 {
        let mut last = starts;
        for _ in 0..least {
            last = self.one(term, last);
        }
        let mut all = last;
        for _ in least..most.unwrap_or(u32::MAX) {
            last = self.one(term, last);
            if last & !all == 0 {
                break;
            }
            all |= last;
        }
        all
    }

    /// The positions for which this is true.
    fn places(&self, places: u64, is_so: impl Fn(usize) -> bool) -> u64 {
        let all = (0..=self.text.len()).filter(|at| places & (1 << at) != 0);
        all.filter(|at| is_so(*at)).fold(0, |set, at| set | 1 << at)
    }

    fn is_boundary(&self, at: usize) -> bool {
        let is_word_at = |at: Option<usize>| {
            let c = at.and_then(|at| self.text.get(at));
            c.is_some_and(|c| is_word(*c))
        };
        is_word_at(at.checked_sub(1)) != is_word_at(Some(at))
    }

    fn sees(&self, inner: &Alternatives, at: usize, is_behind: bool) -> bool {
        if is_behind {
            (0..=at).any(|start| self.any(inner, 1 << start) & (1 << at) != 0)
        } else {
            self.any(inner, 1 << at) != 0
        }
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: u32,
}

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    fn alternatives(&mut self) -> Option<Alternatives> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut alternatives = vec![Vec::new()];
        while let Some(next) = self.rest.peek().filter(|next| **next != ')') {
            if *next == '|' {
                self.rest.next();
                alternatives.push(Vec::new());
            } else {
                let term = self.repeated()?;
                alternatives.last_mut()?.push(term);
            }
        }
        self.depth -= 1;
        Some(alternatives)
    }

    fn repeated(&mut self) -> Option<Term> {
        let term = self.term()?;
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(term),
            _ => return Some(term),
        };
        self.rest.next();
        self.repeat(term, least, most)
    }

    fn counted(&mut self, term: Term) -> Option<Term> {
        self.rest.next();
        let least = self.number()?;
        let most = if !self.eat(',') {
            Some(least)
        } else if self.rest.peek() == Some(&'}') {
            None
        } else {
            Some(self.number()?)
        };
        if !self.eat('}') || most.is_some_and(|most| most < least) {
            return None;
        }
        self.repeat(term, least, most)
    }

    /// Repeats a term. Greedy and lazy repetition match the same texts.
    fn repeat(&mut self, term: Term, least: u32, most: Option<u32>) -> Option<Term> {
        self.eat('?');
        let is_repeatable = matches!(term, Term::One(_) | Term::Group(_));
        let term = Box::new(term);
        is_repeatable.then_some(Term::Repeat { term, least, most })
    }

    fn number(&mut self) -> Option<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok().filter(|number| *number <= MAX_COUNT)
    }

    fn term(&mut self) -> Option<Term> {
        Some(match self.rest.next()? {
            '^' => Term::Start,
            '$' => Term::End,
            '.' => Term::One(Class {
                is_negated: true,
                members: ['\n', '\r', '\u{2028}', '\u{2029}']
                    .map(|c| Member::Range(c, c))
                    .into(),
            }),
            '[' => Term::One(self.class()?),
            '(' => self.group()?,
            '\\' => self.escape()?,
            // Some engines allow these as literals where they have no meaning.
            '*' | '+' | '?' | '{' | '}' | ']' | ')' => return None,
            c => Term::One(Class::of(Member::Range(c, c))),
        })
    }

    fn group(&mut self) -> Option<Term> {
        let look = if !self.eat('?') || self.eat(':') {
            None
        } else {
            let is_behind = self.eat('<');
            let is_there = self.eat('=');
            if !is_there && !self.eat('!') {
                return None;
            }
            Some((is_behind, is_there))
        };
        let inner = self.alternatives()?;
        if !self.eat(')') {
            return None;
        }
        Some(match look {
            None => Term::Group(inner),
            Some((is_behind, is_there)) => Term::Look {
                is_behind,
                is_there,
                inner,
            },
        })
    }

    fn escape(&mut self) -> Option<Term> {
        if let Some(c @ ('b' | 'B')) = self.rest.peek() {
            let is_there = *c == 'b';
            self.rest.next();
            return Some(Term::Boundary { is_there });
        }
        self.escaped().map(|member| Term::One(Class::of(member)))
    }

    /// An escape that is allowed both inside and outside of a class.
    fn escaped(&mut self) -> Option<Member> {
        let c = match self.rest.next()? {
            c @ ('d' | 'D' | 'w' | 'W' | 's' | 'S') => return Some(Member::Named(c)),
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            c if "^$\\.*+?()[]{}|/".contains(c) => c,
            _ => return None,
        };
        Some(Member::Range(c, c))
    }

    fn class(&mut self) -> Option<Class> {
        let is_negated = self.eat('^');
        let mut members = Vec::new();
        while !self.eat(']') {
            let first = self.member()?;
            if !self.eat('-') {
                members.push(first);
            } else if self.rest.peek() == Some(&']') {
                members.extend([first, Member::Range('-', '-')]);
            } else {
                members.push(range(&first, &self.member()?)?);
            }
        }
        Some(Class {
            is_negated,
            members,
        })
    }

    fn member(&mut self) -> Option<Member> {
        match self.rest.next()? {
            '\\' if self.eat('-') => Some(Member::Range('-', '-')),
            '\\' => self.escaped(),
            c => Some(Member::Range(c, c)),
        }
    }
}

fn range(first: &Member, last: &Member) -> Option<Member> {
    match (first, last) {
        (Member::Range(first, _), Member::Range(last, _)) if first <= last => {
            Some(Member::Range(*first, *last))
        }
        _ => None,
    }
}
