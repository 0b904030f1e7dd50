//! The scanner: checks in one pass that a text is JSON, and finds its members.
//!
//! Nothing is recursive: each level of nesting takes one bit.

use std::{borrow::Cow, ops::Range};

use super::{
    Raw,
    nest::{Nest, Nested},
    special,
};

/// The text is not JSON, or has more nodes than the limit. The exact problem is only determined if it
/// is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotJson;

/// How many nodes an array counts in addition to its elements, and an object in addition to its
/// members: the memory that a list allocates for its first elements.
const ARRAY: usize = 3;
const OBJECT: usize = 4;

/// A position in a text.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The number of nodes so far.
    nodes: usize,
    /// The limit on nodes.
    limit: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            nodes: 0,
            limit: usize::MAX,
        }
    }

    /// Sets the limit on nodes.
    pub(super) fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The number of nodes so far.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether the scan stopped because there are too many nodes.
    pub(super) fn is_over(&self) -> bool {
        self.nodes > self.limit
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the next byte that is not white space, without consuming it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Checks that only white space is left.
    pub(super) fn end(&mut self) -> Result<(), NotJson> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(NotJson),
        }
    }

    /// Scans one value.
    pub(super) fn value(&mut self) -> Result<Raw<'a>, NotJson> {
        self.value_by(Self::skip).map(|(raw, ())| raw)
    }

    /// Scans one value with `pass`, which also returns a result.
    pub(super) fn value_by<T>(
        &mut self,
        pass: impl FnOnce(&mut Self) -> Result<T, NotJson>,
    ) -> Result<(Raw<'a>, T), NotJson> {
        self.peek();
        let start = self.at;
        let found = pass(self)?;
        Ok((Raw::found(&self.text[start..self.at]), found))
    }

    /// The number of bytes scanned so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Scans the members of the object at this position. `member` gets each name and must scan the
    /// value.
    pub(super) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.named_members(|scanner, name, _| member(scanner, name))
    }

    /// The same, with the position of each name, including its quotes.
    pub(super) fn named_members(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>, Range<usize>) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.nodes += 1;
            self.expect(b'"')?;
            let start = self.at - 1;
            let name = self.rest_of_name()?;
            let end = self.at;
            self.expect(b':')?;
            member(self, name, start..end)?;
            match self.token()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(NotJson),
            }
        }
    }

    /// Scans the elements of the array at this position.
    pub(super) fn elements(&mut self, mut element: impl FnMut(Raw<'a>)) -> Result<(), NotJson> {
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self.value()?);
            match self.token()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(NotJson),
            }
        }
    }

    /// Scans a name after its opening quote. It must be valid text: half of a character that takes two
    /// escapes is invalid.
    fn rest_of_name(&mut self) -> Result<Cow<'a, str>, NotJson> {
        let start = self.at;
        Ok(match self.rest_of_string()? {
            Escapes::None => Cow::Borrowed(&self.text[start..self.at - 1]),
            Escapes::Some => {
                let name = serde_json::from_str(&self.text[start - 1..self.at]);
                Cow::Owned(name.map_err(|_| NotJson)?)
            }
        })
    }

    /// Scans the name of a member and its colon.
    fn skip_name(&mut self) -> Result<(), NotJson> {
        self.nodes += 1;
        self.expect(b'"')?;
        self.rest_of_string()?;
        self.expect(b':')
    }

    /// Consumes the next byte that is not white space.
    fn token(&mut self) -> Result<u8, NotJson> {
        let byte = self.peek().ok_or(NotJson)?;
        self.at += 1;
        Ok(byte)
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.token()? == byte {
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn skip(&mut self) -> Result<(), NotJson> {
        let mut nest = Nest::default();
        loop {
            self.nodes += 1;
            if self.is_over() {
                return Err(NotJson);
            }
            match self.token()? {
                b'"' => {
                    // The text of a string counts separately from its value.
                    self.nodes += 1;
                    self.rest_of_string()?;
                }
                b'{' if self.peek() == Some(b'}') => self.at += 1,
                b'[' if self.peek() == Some(b']') => self.at += 1,
                b'{' => {
                    self.nodes += OBJECT;
                    self.skip_name()?;
                    nest.push(Nested::Object);
                    continue;
                }
                b'[' => {
                    self.nodes += ARRAY;
                    nest.push(Nested::Array);
                    continue;
                }
                b't' => self.word("rue")?,
                b'f' => self.word("alse")?,
                b'n' => self.word("ull")?,
                b'-' => {
                    let first = self.digit()?;
                    self.rest_of_number(first)?;
                }
                first @ b'0'..=b'9' => self.rest_of_number(first)?,
                _ => return Err(NotJson),
            }
            if self.close(&mut nest)? == Next::Nothing {
                return Ok(());
            }
        }
    }

    /// Called after a value: closes the containers that end here, up to the next value.
    fn close(&mut self, nest: &mut Nest) -> Result<Next, NotJson> {
        while let Some(kind) = nest.last() {
            match (self.token()?, kind) {
                (b',', Nested::Object) => {
                    self.skip_name()?;
                    return Ok(Next::Value);
                }
                (b',', Nested::Array) => return Ok(Next::Value),
                (b'}', Nested::Object) | (b']', Nested::Array) => nest.pop(),
                _ => return Err(NotJson),
            }
        }
        Ok(Next::Nothing)
    }

    fn rest_of_string(&mut self) -> Result<Escapes, NotJson> {
        let bytes = self.text.as_bytes();
        let mut escapes = Escapes::None;
        loop {
            self.at += special::find(&bytes[self.at..]);
            let byte = bytes.get(self.at).ok_or(NotJson)?;
            self.at += 1;
            match byte {
                b'"' => return Ok(escapes),
                b'\\' => {
                    self.rest_of_escape()?;
                    escapes = Escapes::Some;
                }
                _ => return Err(NotJson),
            }
        }
    }

    fn rest_of_escape(&mut self) -> Result<(), NotJson> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => 5,
            _ => return Err(NotJson),
        };
        Ok(())
    }

    fn word(&mut self, rest: &str) -> Result<(), NotJson> {
        if !self.text.as_bytes()[self.at..].starts_with(rest.as_bytes()) {
            return Err(NotJson);
        }
        self.at += rest.len();
        Ok(())
    }

    fn rest_of_number(&mut self, first: u8) -> Result<(), NotJson> {
        if first != b'0' {
            self.digits();
        }
        if self.is_at(b".") {
            self.digit()?;
            self.digits();
        }
        if self.is_at(b"eE") {
            self.is_at(b"+-");
            self.digit()?;
            self.digits();
        }
        Ok(())
    }

    /// Consumes the next byte if it is one of these.
    fn is_at(&mut self, wanted: &[u8]) -> bool {
        let next = self.text.as_bytes().get(self.at);
        let is_wanted = next.is_some_and(|byte| wanted.contains(byte));
        self.at += usize::from(is_wanted);
        is_wanted
    }

    fn digit(&mut self) -> Result<u8, NotJson> {
        let byte = self.text.as_bytes().get(self.at).ok_or(NotJson)?;
        self.at += 1;
        byte.is_ascii_digit().then_some(*byte).ok_or(NotJson)
    }

    fn digits(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
}

/// Whether a string contains escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    None,
    Some,
}

/// The token after a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Value,
    Nothing,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    /// Whether the whole text is one value, according to the scanner and to serde.
    fn verdicts(text: &str) -> (bool, bool) {
        let mut scanner = Scanner::new(text);
        let ours = scanner.value().and_then(|raw| {
            scanner.end()?;
            assert_eq!(
                raw.get(),
                text.trim(),
                "a value is found without what is around it"
            );
            Ok(())
        });
        let serde = serde_json::from_str::<IgnoredAny>(text);
        (ours.is_ok(), serde.is_ok())
    }

    #[test]
    fn what_serde_takes_is_taken_and_nothing_else() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(200), close.repeat(200));
        let texts = [
            "0 -0 -1 1.5 1e9 1E+9 1e-9 -0.0e0 12345678901234567890",
            "00 01 -01 - -a 1. .5 1e 1e+ +1 1a 0x1 Infinity NaN 1.e5",
            "true false null tru truee True nul",
            r#"{} [] {"a":1} {"a":{"b":[]}} [1,[2,[3]]] {"a":1,"b":2}"#,
            r#"{ } [ ] {,} [,] {"a"} {"a":} {"a":1,} [1,] {a:1} {'a':1} {"a" :1} [1 2] {1:2}"#,
            "[ ] { ] } [} {] [[]} [{}} {\"a\":[}",
            r#""" "a" "a"b" "\n" "\u00e9" "\uD83D\uDE00" "\uD83D" "\x" "\u12" "\u12g4" "\" "a"#,
        ];
        for text in texts.iter().flat_map(|line| line.split(' ')) {
            let (ours, serde) = verdicts(text);
            assert_eq!(ours, serde, "{text}");
        }
        for text in [
            " 1 ",
            "\n[\t1\r,2 ]\n",
            "",
            " ",
            "\u{feff}1",
            "\"\n\"",
            "\"\u{1}\"",
            "1 2",
        ] {
            let (ours, serde) = verdicts(text);
            assert_eq!(ours, serde, "{text:?}");
        }
        for (text, is_json) in [
            (deep("[", "]"), true),
            (
                format!("{}1{}", "{\"a\":[".repeat(200), "]}".repeat(200)),
                true,
            ),
            (
                format!("{}1{}", "{\"a\":[".repeat(200), "}]".repeat(200)),
                false,
            ),
            (format!("{}1{}", "[".repeat(64), "]".repeat(65)), false),
            (deep("[", "]") + "]", false),
        ] {
            assert_eq!(verdicts(&text), (is_json, is_json));
        }
    }

    proptest! {
        #[test]
        fn serde_and_we_agree_on_texts_that_are_nearly_json(
            parts in proptest::collection::vec(
                prop::sample::select(&[
                    "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "1", "-", ".", "e", "0", " ",
                    "null", "true", "\n", "\u{1}", "é", "\"\\u00e9\"", "\"x\\",
                ][..]),
                0..24,
            )
        ) {
            let text = parts.concat();
            let (ours, serde) = verdicts(&text);
            prop_assert_eq!(ours, serde, "{}", text);
        }

        #[test]
        fn serde_and_we_agree_on_strings(inside in "(?s)[a\\\\\"u0né\u{1}\u{7f}]{0,90}") {
            let text = format!("\"{inside}\"");
            let (ours, serde) = verdicts(&text);
            prop_assert_eq!(ours, serde, "{}", text);
        }
    }
}
