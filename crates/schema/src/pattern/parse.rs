//! Parses a regular expression of ECMA-262 with the `u` flag, as JSON Schema recommends. It accepts two things that
//! browsers only accept without the flag: needless escapes of punctuation, and braces that are not quantifiers.

use super::tree::{Alternatives, Class, Member, Repeat, Sense, Term};

/// Levels of nested groups. The engine's own limit is 64.
const MAX_GROUPS: usize = 48;

pub(super) fn parse(source: &str) -> Result<Alternatives, String> {
    let mut parser = Parser {
        chars: source.chars().collect(),
        at: 0,
        depth: 0,
    };
    let alternatives = parser.alternatives()?;
    match parser.peek() {
        None => Ok(alternatives),
        Some(_) => Err("a `)` has no matching `(`".to_owned()),
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

/// One element of a class: a character, which may begin a range, or a set of characters.
enum Atom {
    One(char),
    Set(Member),
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn eat(&mut self, text: &str) -> bool {
        let length = text.chars().count();
        let is_next = self
            .chars
            .get(self.at..self.at + length)
            .is_some_and(|next| next.iter().copied().eq(text.chars()));
        if is_next {
            self.at += length;
        }
        is_next
    }

    fn alternatives(&mut self) -> Result<Alternatives, String> {
        let mut alternatives = vec![Vec::new()];
        while let Some(next) = self.peek().filter(|next| *next != ')') {
            if next == '|' {
                self.at += 1;
                alternatives.push(Vec::new());
                continue;
            }
            let term = self.term()?;
            let term = match self.repeat()? {
                Some(repeat) => Term::Repeat(Box::new(term), repeat),
                None => term,
            };
            if let Some(last) = alternatives.last_mut() {
                last.push(term);
            }
        }
        Ok(alternatives)
    }

    fn term(&mut self) -> Result<Term, String> {
        Ok(match self.next() {
            Some('^') => Term::Start,
            Some('$') => Term::End,
            Some('.') => Term::Dot,
            Some('(') => return self.group(),
            Some('[') => Term::Class(self.class()?),
            Some('\\') => return self.escape(),
            Some(mark @ ('*' | '+' | '?')) => {
                return Err(format!("there is nothing before `{mark}` to repeat"));
            }
            Some(other) => Term::Char(other),
            None => return Err("the pattern ends too early".to_owned()),
        })
    }

    fn group(&mut self) -> Result<Term, String> {
        for open in ["(?=", "(?!", "(?<=", "(?<!"] {
            if self.eat(&open[1..]) {
                return Ok(Term::Look(open, self.body()?));
            }
        }
        for flag in ["?i", "?-i"] {
            if self.eat(&format!("{flag})")) {
                return Ok(Term::Flag(format!("({flag})")));
            }
            if self.eat(&format!("{flag}:")) {
                return Ok(Term::Group(format!("({flag}:"), self.body()?));
            }
        }
        if self.eat("?:") {
            return Ok(Term::Group("(?:".to_owned(), self.body()?));
        }
        if self.eat("?<") || self.eat("?P<") {
            let name = self.until('>')?;
            return Ok(Term::Group(format!("(?<{name}>"), self.body()?));
        }
        if self.peek() == Some('?') {
            return Err("`(?` does not begin a group of ECMA-262".to_owned());
        }
        Ok(Term::Group("(".to_owned(), self.body()?))
    }

    fn body(&mut self) -> Result<Alternatives, String> {
        self.depth += 1;
        if self.depth > MAX_GROUPS {
            return Err(format!("groups are nested deeper than {MAX_GROUPS}"));
        }
        let alternatives = self.alternatives()?;
        self.depth -= 1;
        if self.eat(")") {
            Ok(alternatives)
        } else {
            Err("a `(` is not closed".to_owned())
        }
    }

    fn repeat(&mut self) -> Result<Option<Repeat>, String> {
        let Some((least, most)) = self.quantifier()? else {
            return Ok(None);
        };
        let is_lazy = self.eat("?");
        if self.quantifier()?.is_some() {
            return Err("two quantifiers follow one another".to_owned());
        }
        Ok(Some(Repeat {
            least,
            most,
            is_lazy,
        }))
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        for (mark, bounds) in [("*", (0, None)), ("+", (1, None)), ("?", (0, Some(1)))] {
            if self.eat(mark) {
                return Ok(Some(bounds));
            }
        }
        let start = self.at;
        let counts = self.counts();
        if counts.is_none() {
            // Braces that are not a quantifier are literal.
            self.at = start;
        }
        match counts {
            Some((least, most)) => Ok(Some((
                bound(&least)?,
                most.map(|most| bound(&most)).transpose()?,
            ))),
            None => Ok(None),
        }
    }

    /// `{least}`, `{least,}` or `{least,most}`, as text.
    fn counts(&mut self) -> Option<(String, Option<String>)> {
        if !self.eat("{") {
            return None;
        }
        let least = self.digits();
        let most = if self.eat(",") {
            Some(self.digits()).filter(|most| !most.is_empty())
        } else {
            Some(least.clone())
        };
        (!least.is_empty() && self.eat("}")).then_some((least, most))
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        digits
    }

    fn escape(&mut self) -> Result<Term, String> {
        match self.peek() {
            Some('b') => Ok(self.skip(Term::WordBoundary(Sense::Is))),
            Some('B') => Ok(self.skip(Term::WordBoundary(Sense::IsNot))),
            Some('1'..='9') => Ok(Term::Back(format!("(?:\\{})", self.digits()))),
            Some('k') => {
                self.at += 1;
                if !self.eat("<") {
                    return Err("`\\k` needs a name in `<` and `>`".to_owned());
                }
                Ok(Term::Back(format!("\\k<{}>", self.until('>')?)))
            }
            _ => Ok(match self.escaped_atom()? {
                Atom::One(one) => Term::Char(one),
                Atom::Set(member) => Term::Class(Class::single(member)),
            }),
        }
    }

    fn class(&mut self) -> Result<Class, String> {
        let sense = if self.eat("^") {
            Sense::IsNot
        } else {
            Sense::Is
        };
        let mut members = Vec::new();
        loop {
            if self.eat("]") {
                return Ok(Class { sense, members });
            }
            let first = self.atom()?;
            let is_range = self.peek() == Some('-')
                && self
                    .chars
                    .get(self.at + 1)
                    .is_some_and(|after| *after != ']');
            if !is_range {
                members.push(first.into_member());
                continue;
            }
            self.at += 1;
            match (first, self.atom()?) {
                (Atom::One(first), Atom::One(last)) if first > last => {
                    return Err(format!("the range `{first}-{last}` is in the wrong order"));
                }
                (Atom::One(first), Atom::One(last)) => members.push(Member::Range(first, last)),
                // A set cannot be the end of a range, so the dash is literal.
                (first, last) => members.extend([
                    first.into_member(),
                    Member::Range('-', '-'),
                    last.into_member(),
                ]),
            }
        }
    }

    fn atom(&mut self) -> Result<Atom, String> {
        match self.next() {
            Some('\\') if self.eat("b") => Ok(Atom::One('\u{8}')),
            Some('\\') => self.escaped_atom(),
            Some(other) => Ok(Atom::One(other)),
            None => Err("a `[` is not closed".to_owned()),
        }
    }

    /// The escapes that are allowed both inside and outside of a class.
    fn escaped_atom(&mut self) -> Result<Atom, String> {
        let Some(escaped) = self.next() else {
            return Err("the pattern ends with a backslash".to_owned());
        };
        Ok(match escaped {
            'd' => Atom::Set(Member::Digit(Sense::Is)),
            'D' => Atom::Set(Member::Digit(Sense::IsNot)),
            'w' => Atom::Set(Member::Word(Sense::Is)),
            'W' => Atom::Set(Member::Word(Sense::IsNot)),
            's' => Atom::Set(Member::Space(Sense::Is)),
            'S' => Atom::Set(Member::Space(Sense::IsNot)),
            'p' => Atom::Set(Member::Property(Sense::Is, self.property()?)),
            'P' => Atom::Set(Member::Property(Sense::IsNot, self.property()?)),
            't' => Atom::One('\t'),
            'n' => Atom::One('\n'),
            'v' => Atom::One('\u{b}'),
            'f' => Atom::One('\u{c}'),
            'r' => Atom::One('\r'),
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => Atom::One('\0'),
            'c' => Atom::One(self.control()?),
            'x' => Atom::One(character(self.hex(2)?)?),
            'u' => Atom::One(self.unicode()?),
            punctuation if punctuation.is_ascii_punctuation() || punctuation == ' ' => {
                Atom::One(punctuation)
            }
            other => return Err(format!("`\\{other}` is not an escape of ECMA-262")),
        })
    }

    fn property(&mut self) -> Result<String, String> {
        if !self.eat("{") {
            return Err("`\\p` needs a property in `{` and `}`".to_owned());
        }
        let name = self.until('}')?;
        let is_name =
            |character: char| character.is_ascii_alphanumeric() || "_=".contains(character);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`{name}` is not a property of characters"));
        }
        Ok(name)
    }

    fn control(&mut self) -> Result<char, String> {
        match self.next() {
            Some(letter) if letter.is_ascii_alphabetic() => character(u32::from(letter) % 32),
            _ => Err("`\\c` needs a letter".to_owned()),
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        if self.eat("{") {
            let digits = self.until('}')?;
            let code = u32::from_str_radix(&digits, 16);
            return code
                .map_err(|_| format!("`{digits}` is not a code point"))
                .and_then(character);
        }
        let unit = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&unit) {
            return character(unit);
        }
        if !self.eat("\\u") {
            return character(unit);
        }
        let low = self.hex(4)?;
        if !(0xDC00..0xE000).contains(&low) {
            return character(unit);
        }
        character(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    }

    fn hex(&mut self, length: usize) -> Result<u32, String> {
        let digits: String = self.chars.iter().skip(self.at).take(length).collect();
        let is_hex =
            digits.len() == length && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        self.at += length;
        match u32::from_str_radix(&digits, 16) {
            Ok(code) if is_hex => Ok(code),
            _ => Err(format!("`{digits}` is not {length} hexadecimal digits")),
        }
    }

    fn until(&mut self, end: char) -> Result<String, String> {
        let text: String = self
            .chars
            .iter()
            .skip(self.at)
            .take_while(|next| **next != end)
            .collect();
        self.at += text.chars().count();
        match self.next() {
            Some(_) => Ok(text),
            None => Err(format!("a `{end}` is missing")),
        }
    }

    fn skip(&mut self, term: Term) -> Term {
        self.at += 1;
        term
    }
}

impl Atom {
    fn into_member(self) -> Member {
        match self {
            Self::One(one) => Member::Range(one, one),
            Self::Set(member) => member,
        }
    }
}

fn bound(digits: &str) -> Result<u32, String> {
    digits
        .parse()
        .map_err(|_| format!("a repetition of {digits} is too large"))
}

fn character(code: u32) -> Result<char, String> {
    char::from_u32(code).ok_or_else(|| {
        format!("U+{code:04X} is not a character; write `\\u{{…}}` for one beyond U+FFFF")
    })
}
