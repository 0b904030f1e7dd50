//! Values of headers: plain if HTTP does not change them, otherwise in base64.
//!
//! streamable-http, "Value Encoding". A header carries visible ASCII and inner blanks, and loses blanks
//! at its ends. Other values are written as `=?base64?…?=`, and so are values that already have this
//! form.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Why a header's value cannot be decoded. Answer with status 400 and a header mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHeader {
    /// A byte that a header must not contain unencoded.
    #[error("byte {byte:#04x} at {at} is not allowed in a header; encode the value as base64")]
    Character {
        /// The byte.
        byte: u8,
        /// Its position, counted from zero after leading blanks.
        at: usize,
    },
    /// The text between the markers is not base64 with padding.
    #[error("the value between `=?base64?` and `?=` is not standard base64 with padding")]
    Base64,
    /// The text between the markers is base64, but the decoded bytes are not text.
    #[error("the value between `=?base64?` and `?=` is not UTF-8")]
    Utf8,
}

/// Encodes a value so that a header carries it unchanged.
///
/// ```
/// use turnbuckle_protocol::http::encode;
///
/// assert_eq!(encode("us west 1"), "us west 1");
/// assert_eq!(encode(" us-west1"), "=?base64?IHVzLXdlc3Qx?=");
/// ```
pub fn encode(text: &str) -> Cow<'_, str> {
    if is_carried_unchanged(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned([PREFIX, &STANDARD.encode(text), SUFFIX].concat())
    }
}

/// Decodes the value of a header.
///
/// Blanks at both ends are removed. Without both markers, exactly as they are written here, the value
/// is literal. A tab inside is accepted because HTTP allows it, although [`encode`] never writes one.
///
/// ```
/// use turnbuckle_protocol::http::{BadHeader, decode};
///
/// assert_eq!(decode(b"=?base64?SGVsbG8=?=")?, "Hello");
/// assert_eq!(decode(b"=?BASE64?SGVsbG8=?=")?, "=?BASE64?SGVsbG8=?=");
/// assert_eq!(decode(b"=?base64?SGVsbG8?="), Err(BadHeader::Base64));
/// # Ok::<(), BadHeader>(())
/// ```
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, BadHeader> {
    let value = trimmed(value);
    match sentinel(value) {
        Some(payload) => decode_payload(payload).map(Cow::Owned),
        None => literal(value).map(Cow::Borrowed),
    }
}

/// Returns whether a header encodes exactly this value of the body.
///
/// Allocates only for a value in base64. An invalid header matches nothing.
pub fn matches(value: &[u8], body: &str) -> bool {
    let value = trimmed(value);
    match sentinel(value) {
        Some(payload) => decode_payload(payload).is_ok_and(|text| text == body),
        None => value == body.as_bytes() && forbidden(value).is_none(),
    }
}

fn is_carried_unchanged(text: &str) -> bool {
    // SEP-2243, "Encoding Rules": an inner tab is a control character, so it is encoded.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    // "starts with and ends with": this also applies if the two markers share their question mark.
    let is_sentinel = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    is_plain && !is_padded && !is_sentinel
}

/// Removes the optional whitespace around a field value.
fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn sentinel(value: &[u8]) -> Option<&[u8]> {
    value
        .strip_prefix(PREFIX.as_bytes())?
        .strip_suffix(SUFFIX.as_bytes())
}

fn decode_payload(payload: &[u8]) -> Result<String, BadHeader> {
    let bytes = STANDARD.decode(payload).map_err(|_| BadHeader::Base64)?;
    String::from_utf8(bytes).map_err(|_| BadHeader::Utf8)
}

fn literal(value: &[u8]) -> Result<&str, BadHeader> {
    match forbidden(value) {
        Some((at, byte)) => Err(BadHeader::Character { byte, at }),
        None => std::str::from_utf8(value).map_err(|_| BadHeader::Utf8),
    }
}

fn forbidden(value: &[u8]) -> Option<(usize, u8)> {
    value
        .iter()
        .copied()
        .enumerate()
        .find(|(_, byte)| !matches!(byte, b'\t' | b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // rule: X3
    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("us west 1", "us west 1"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("a\tb", "=?base64?YQli?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?base64?open", "=?base64?open"),
            ("file:///a%20b?c=d&e", "file:///a%20b?c=d&e"),
        ] {
            assert_eq!(encode(text), header, "{text:?}");
            assert_eq!(decode(header.as_bytes()).unwrap(), text);
            assert!(matches(header.as_bytes(), text), "{text:?}");
        }
    }

    #[test]
    fn without_both_markers_a_value_is_literal() {
        for literal in [
            "SGVsbG8=",
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
            "=?BASE64?SGVsbG8=?=",
            "=?Base64?SGVsbG8=?=",
            "=?base64?=",
            "=?base64",
        ] {
            assert_eq!(decode(literal.as_bytes()).unwrap(), literal);
            assert!(matches(literal.as_bytes(), literal));
            assert!(!matches(literal.as_bytes(), "Hello"));
        }
    }

    // rule: X3
    #[test]
    fn bad_base64_is_refused() {
        for header in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVsbG8==?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?SGVs bG8=?=",
            "=?base64?SGVsbG_-?=",
            "=?base64?SGVsbG9=?=",
        ] {
            assert_eq!(
                decode(header.as_bytes()),
                Err(BadHeader::Base64),
                "{header}"
            );
            assert!(!matches(header.as_bytes(), "Hello"));
            assert!(!matches(header.as_bytes(), header));
        }
        assert_eq!(decode(b"=?base64?/w==?="), Err(BadHeader::Utf8));
    }

    #[test]
    fn blanks_around_a_value_are_no_part_of_it() {
        assert_eq!(decode(b" \t a b\t").unwrap(), "a b");
        assert!(matches(b"  a b ", "a b"));
        assert!(!matches(b" a ", " a "));
        assert_eq!(decode(b" =?base64?IGE=?= ").unwrap(), " a");
        assert_eq!(decode(b" \t ").unwrap(), "");
    }

    #[test]
    fn an_inner_tab_is_taken_in_both_forms() {
        assert!(matches(b"a\tb", "a\tb"));
        assert!(matches(b"=?base64?YQli?=", "a\tb"));
    }

    #[test]
    fn what_a_header_may_not_carry_is_refused_even_if_the_body_says_the_same() {
        for text in ["é", "a\nb", "a\0b", "\u{7f}"] {
            assert!(!matches(text.as_bytes(), text), "{text:?}");
        }
        assert_eq!(
            decode(b"  a\x01"),
            Err(BadHeader::Character { byte: 1, at: 1 })
        );
        assert_eq!(
            decode(b"\xff"),
            Err(BadHeader::Character { byte: 0xff, at: 0 })
        );
    }

    #[test]
    fn values_are_case_sensitive() {
        assert!(!matches(b"Tools/call", "tools/call"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in any::<String>()) {
            let header = encode(&text);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert_eq!(decode(header.as_bytes()).unwrap(), text.as_str());
            prop_assert!(matches(header.as_bytes(), &text));
        }

        #[test]
        fn near_sentinels_are_decoded_too(text in "[ \t]?(=|\\?|=\\?base64\\?)?[a-z=? ]{0,6}(\\?=)?[ \t]?") {
            let header = encode(&text);
            prop_assert_eq!(decode(header.as_bytes()).unwrap(), text.as_str());
            prop_assert!(matches(header.as_bytes(), &text));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>(), body in any::<String>()) {
            let is_match = matches(&bytes, &body);
            let is_equal = decode(&bytes).is_ok_and(|text| text == body);
            prop_assert_eq!(is_match, is_equal);
            if let Ok(text) = decode(&bytes) {
                prop_assert!(matches(&bytes, &text));
            }
        }
    }
}
