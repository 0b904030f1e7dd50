//! One character of a URI as it is written: plain or percent-encoded.
//!
//! Matching compares units, not bytes, so that `%41` and `A` are the same, `%2F` and `/` differ,
//! and a variable never ends in the middle of a percent-encoded character.

use std::str;

/// One character of a URI. Two spellings that RFC 3986 calls equivalent are equal units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// An unreserved character in either spelling, or a reserved one that was not encoded.
    Plain(char),
    /// A reserved character that was encoded, or a character that must be encoded in a URI.
    Escaped(char),
    /// An encoded octet that is not part of a UTF-8 character.
    Octet(u8),
    /// A character that no URI can contain: a control character, a brace, or a `%` without two hexadecimal digits.
    Invalid,
}

impl Unit {
    /// The character of this unit, if it is one.
    pub(super) fn character(self) -> Option<char> {
        match self {
            Unit::Plain(character) | Unit::Escaped(character) => Some(character),
            Unit::Octet(_) | Unit::Invalid => None,
        }
    }

    /// The unit of a character that was not percent-encoded. Characters that should have been encoded and
    /// cannot be mistaken for anything else (a space, `é`) are treated as if they were encoded: people
    /// and models write URIs by hand.
    fn written(character: char) -> Self {
        if is_unreserved(character) || is_reserved(character) {
            Unit::Plain(character)
        } else if character.is_control() || matches!(character, '{' | '}' | '%') {
            Unit::Invalid
        } else {
            Unit::Escaped(character)
        }
    }

    /// The unit of a character that was percent-encoded.
    fn decoded(character: char) -> Self {
        if is_unreserved(character) {
            Unit::Plain(character)
        } else {
            Unit::Escaped(character)
        }
    }
}

/// The units of a text, one after the other.
#[derive(Clone)]
pub(super) struct Units<'a> {
    rest: &'a str,
}

impl<'a> Units<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The text that has not been read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let first = self.rest.chars().next()?;
        let (unit, length) = match first {
            '%' => escaped(self.rest.as_bytes()),
            other => (Unit::written(other), other.len_utf8()),
        };
        self.rest = &self.rest[length..];
        Some(unit)
    }
}

/// The text of these units, or `None` if it is not valid UTF-8.
pub(super) fn decode(units: &[Unit]) -> Option<String> {
    units.iter().map(|unit| unit.character()).collect()
}

/// The octet at the start of `bytes`, if they start with a percent-encoded triplet.
pub(super) fn octet(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [b'%', high, low, ..] => Some(hexadecimal(*high)? << 4 | hexadecimal(*low)?),
        _ => None,
    }
}

/// Whether RFC 3986 (2.3) allows a character unencoded everywhere.
pub(super) fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~')
}

/// Whether a character delimits parts of a URI when it is not encoded (RFC 3986, 2.2).
pub(super) fn is_reserved(character: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(character)
}

/// The unit at the start of `bytes`, which start with `%`, and how many bytes it takes.
fn escaped(bytes: &[u8]) -> (Unit, usize) {
    let Some(lead) = octet(bytes) else {
        return (Unit::Invalid, 1);
    };
    let width = match lead {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return (Unit::Octet(lead), 3),
    };
    let octets: Vec<u8> = bytes.chunks(3).take(width).map_while(octet).collect();
    match str::from_utf8(&octets)
        .ok()
        .and_then(|text| text.chars().next())
    {
        Some(character) => (Unit::decoded(character), 3 * width),
        None => (Unit::Octet(lead), 3),
    }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<Unit> {
        Units::new(text).collect()
    }

    #[test]
    fn spellings_of_one_character_are_one_unit() {
        assert_eq!(units("%41%7e"), units("A~"));
        assert_eq!(units("%c3%A9"), units("é"));
        assert_eq!(units("%20"), units(" "));
        assert_eq!(units("%F0%9F%A6%80"), [Unit::Escaped('🦀')]);
    }

    #[test]
    fn an_encoded_delimiter_is_not_the_delimiter() {
        assert_eq!(units("/"), [Unit::Plain('/')]);
        assert_eq!(units("%2f"), [Unit::Escaped('/')]);
    }

    #[test]
    fn encoding_is_undone_once() {
        assert_eq!(
            units("%252e"),
            [Unit::Escaped('%'), Unit::Plain('2'), Unit::Plain('e')]
        );
    }

    #[test]
    fn octets_that_are_not_utf8_stay_octets() {
        assert_eq!(units("%c0%ae"), [Unit::Octet(0xc0), Unit::Octet(0xae)]);
        assert_eq!(units("%e2%82"), [Unit::Octet(0xe2), Unit::Octet(0x82)]);
        assert_eq!(units("%C3x"), [Unit::Octet(0xc3), Unit::Plain('x')]);
        assert_eq!(
            units("%ED%A0%80"),
            [Unit::Octet(0xed), Unit::Octet(0xa0), Unit::Octet(0x80)]
        );
        assert_eq!(decode(&units("%ff")), None);
    }

    #[test]
    fn what_no_uri_holds_is_invalid() {
        for text in ["%", "%4", "%zz", "%é", "{", "}", "\0", "\n", "\u{85}"] {
            assert_eq!(units(text).first(), Some(&Unit::Invalid), "{text:?}");
        }
    }
}
