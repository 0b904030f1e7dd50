//! Finds bytes that must be escaped in a JSON string, many at a time.
//!
//! Messages are mostly text, and looking at text byte by byte is what costs most in a large one.
//! Such bytes are rare, so whole blocks are looked at together: a loop over a block without an
//! early exit is one that the compiler turns into vector instructions.

/// Bytes looked at together in long texts.
const BLOCK: usize = 32;

/// Bytes looked at together where it is known, or likely, that one of them is special.
const WORD: usize = size_of::<u64>();

/// The same byte in every place of a word.
const fn everywhere(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// The position of the first quote, backslash or control character; the length if there is no such
/// byte.
#[inline]
pub(super) fn find(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Names are short: one look settles most of them.
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

/// Marks each special byte of a word in its highest bit. Borrows can only run from a marked byte
/// to those after it, so the first mark is always true.
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
                    // What follows is special too, or has its highest bit set.
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
