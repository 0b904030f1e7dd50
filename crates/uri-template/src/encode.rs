//! Percent-encoding of text in a URI.

use super::unit::{is_reserved, is_unreserved, octet};

/// The characters that go into the URI unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allow {
    /// Letters, digits and `-._~`.
    Unreserved,
    /// These, delimiters, and triplets that are percent-encoded already.
    Reserved,
}

/// `text` with every octet percent-encoded that is not allowed.
pub(super) fn encoded(text: &str, allow: Allow) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let is_kept = is_unreserved(character)
            || (allow == Allow::Reserved
                && (is_reserved(character) || octet(&text.as_bytes()[at..]).is_some()));
        if is_kept {
            out.push(character);
        } else {
            push_triplets(&mut out, character);
        }
    }
    out
}

fn push_triplets(out: &mut String, character: char) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_loses_its_delimiters_unless_they_are_reserved() {
        assert_eq!(
            encoded("a/b?c%20d é", Allow::Unreserved),
            "a%2Fb%3Fc%2520d%20%C3%A9"
        );
        assert_eq!(
            encoded("a/b?c%20d é%", Allow::Reserved),
            "a/b?c%20d%20%C3%A9%25"
        );
    }
}
