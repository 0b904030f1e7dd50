//! Finds bytes that must be escaped in a JSON string, many at a time.
//!
//! Messages consist mostly of text, and scanning text byte by byte takes most of the time for a large
//! one. The bytes to find are rare, so whole blocks are checked at once: the compiler turns a loop over
//! a block without an early exit into vector instructions.

/// How many bytes are checked at once in long texts.
const BLOCK: usize = 32;

/// How many bytes are checked at once if one of them is known or likely to be special.
const WORD: usize = size_of::<u64>();

/// A word with the same byte in every place.
const fn everywhere(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// Returns the position of the first quote, backslash or control character, or the length if there is
/// none.
#[inline]
pub(super) fn find(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Names are short: one check is enough for most of them.
    if let Some(word) = bytes.first_chunk() {
        match first_in(*word) {
            Some(offset) => return offset,
            None => at = WORD,
        }
    }
    while let Some(block) = bytes[at..].first_chunk()
        && !any_in(block)
    {
        at += BLOCK;
    }
    while let Some(word) = bytes[at..].first_chunk() {
        match first_in(*word) {
            Some(offset) => return at + offset,
            None => at += WORD,
        }
    }
    let rest = &bytes[at..];
    let offset = rest.iter().position(|byte| is_special(*byte));
    at + offset.unwrap_or(rest.len())
}

fn any_in(block: &[u8; BLOCK]) -> bool {
    block
        .iter()
        .fold(false, |any, byte| any | is_special(*byte))
}

/// Marks each special byte of a word in its highest bit. A borrow can only affect the bytes after a
/// marked one, so the first mark is always correct.
fn first_in(word: [u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let quote = word ^ everywhere(b'"');
    let backslash = word ^ everywhere(b'\\');
    let marks = (word.wrapping_sub(everywhere(0x20)) & !word)
        | (quote.wrapping_sub(everywhere(1)) & !quote)
        | (backslash.wrapping_sub(everywhere(1)) & !backslash);
    let marks = marks & everywhere(0x80);
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches the loop over a block becomes vector code"
)]
const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_at_any_position() {
        let edges = *b"\x00\x1f\x20!\"#[\\]\x7f\x80\xa2\xdc\xff";
        for byte in edges {
            for length in 0..80 {
                for at in 0..length {
                    // The following bytes are special too, or have their highest bit set.
                    for after in [b'x', b'"', 0x00, 0x80, 0xff] {
                        let mut bytes = vec![0xc3; length];
                        bytes[at] = byte;
                        bytes[at + 1..].fill(after);
                        let expected = bytes.iter().position(|byte| is_special(*byte));
                        assert_eq!(find(&bytes), expected.unwrap_or(length));
                    }
                }
            }
        }
        assert_eq!(find(b""), 0);
    }
}
