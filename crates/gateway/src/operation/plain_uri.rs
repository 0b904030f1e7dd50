//! Whether all programs read a URI alike, so that patterns can judge its text.
//!
//! A pattern compares text. A server that resolves `..` or decodes a URI before it opens a file may
//! open another one than the text says: `file:///public/../etc/passwd` begins with
//! `file:///public/`.

use std::borrow::Cow;

/// How often a URI may be percent-encoded. Programs that decode a URI twice by mistake exist.
const MAX_ENCODED: usize = 3;

/// Whether a URI is plain. A plain URI has no `.` or `..` segments, no backslashes and no control characters. Its path
/// has no encoded slashes, backslashes or control characters, and no ASCII characters that are encoded as if they were
/// longer ones.
pub(super) fn is_plain(uri: &str) -> bool {
    // URLs are read without tabs and line breaks, which could split a `..`.
    if uri.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let (path, rest) = uri.split_at(uri.find(['?', '#']).unwrap_or(uri.len()));
    // Old JavaScript writes characters as `%u002e`.
    if path.contains("%u") || path.contains("%U") {
        return false;
    }
    let slashes = separators(path.as_bytes());
    let is_plain_path = is_plain_text(path, |text| {
        let has_control = text.iter().any(u8::is_ascii_control);
        separators(text) == slashes && !has_control && !has_overlong(text)
    });
    // Queries contain encoded slashes and line breaks often, and most servers do not read them as a path.
    is_plain_path && !path.contains('\\') && is_plain_text(rest, |_| true)
}

/// Whether a text, in each of its decoded forms, has no dot segments and fulfils a condition.
fn is_plain_text(text: &str, is_good: impl Fn(&[u8]) -> bool) -> bool {
    let mut text = Cow::Borrowed(text.as_bytes());
    for _ in 0..=MAX_ENCODED {
        if has_dot_segment(&text) || !is_good(&text) {
            return false;
        }
        match decoded(&text) {
            Some(once) => text = Cow::Owned(once),
            None => return true,
        }
    }
    false
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn separators(text: &[u8]) -> usize {
    text.iter().filter(|byte| is_slash(**byte)).count()
}

fn has_dot_segment(text: &[u8]) -> bool {
    let mut segments = text.split(|byte| is_slash(*byte) || matches!(byte, b':' | b'?' | b'#'));
    segments.any(|segment| {
        // Some servers remove parameters: `..;a` is `..` for them. For others, a text ends at a NUL character.
        let name = segment.split(|byte| matches!(byte, b';' | 0)).next();
        let name = name.unwrap_or_default().trim_ascii().iter();
        let seen = name.filter(|byte| !byte.is_ascii_control());
        seen.clone().eq(b".") || seen.eq(b"..")
    })
}

/// Whether a text has a character in more bytes than UTF-8 allows, such as `.` as `c0 ae`. Decoders that do not refuse
/// it exist, and some do not look at the second byte.
fn has_overlong(text: &[u8]) -> bool {
    let is_first = |byte: &u8| matches!(byte, 0xc0 | 0xc1);
    let is_longer = |bytes: &[u8]| {
        matches!(
            bytes,
            [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f] | [0xf8, 0x80..=0x87] | [0xfc, 0x80..=0x83]
        )
    };
    text.iter().any(is_first) || text.windows(2).any(is_longer)
}

/// Decodes percent-encoded bytes once. Returns `None` if the text has no percent-encoded bytes.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let byte = match (first, after) {
            (b'%', [high, low, ..]) => digit(high).zip(digit(low)),
            _ => None,
        };
        let byte = byte.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        decoded.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    (decoded.len() < text.len()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_uris_are_plain() {
        for uri in [
            "file:///public/a",
            "file:///public/.hidden/a..b/...",
            "file:///public/",
            "note://one",
            "urn:isbn:1",
            "file:///a%20b/100%25",
            "file:///{+path}",
            "https://host:8080/a?next=%2Fhome%2Fada&v=1.2#top",
            "https://host/a?text=one%0Atwo%00",
            "file:///%C3%A4%E2%82%AC%F0%9F%98%80",
            "file:///latin/%C8%E0%F0",
            "a:",
            "",
        ] {
            assert!(is_plain(uri), "{uri}");
        }
    }

    #[test]
    fn uris_that_servers_may_read_differently_are_not_plain() {
        for uri in [
            "file:///public/../etc/passwd",
            "file:///public/./a",
            "file:///public/..",
            "file:..",
            "../a",
            "file:///public/%2e%2e/etc",
            "file:///public/%2E./etc",
            "file:///public/.%2e/etc",
            "file:///public/%252e%252e/etc",
            "file:///public/%25252525252e/etc",
            "file:///public/..;a/etc",
            "file:///public/..%20/etc",
            "file:///public\\..\\etc",
            "file:///public/a\\b",
            "file:///public/a%5cb",
            "file:///public/..%5Cetc",
            "file:///public/..%2fetc",
            "file:///public/a%2Fb",
            "file:///public/a%252Fb",
            "file:///public/.\t./etc",
            "file:///public/..%00/etc",
            "file:///public/.%09./etc",
            "file:///public/a%00.txt",
            "file:///public/a%2500",
            "file:///public/%c0%ae%c0%ae/etc",
            "file:///public/%25c0%25ae",
            "file:///public/a%c0%afetc",
            "file:///public/%c0%2e/etc",
            "file:///public/%f8%80%80%80%ae/etc",
            "file:///public/%fc%80%80%80%80%ae/etc",
            "file:///public/%u002e%u002e/etc",
            "file:///public/%e0%80%ae/etc",
            "file:///public/%f0%80%80%ae/etc",
            "file:///public/a?/..%00/etc",
            "file:///public/a?/.%0a./etc",
            "file:///public/a?/../../etc",
            "file:///public/a?x=1/%2e%2e/etc",
            "file:///public/a#/../../etc",
        ] {
            assert!(!is_plain(uri), "{uri}");
        }
    }
}
