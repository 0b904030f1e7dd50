//! Strings to JSON, many bytes at a time.
//!
//! Tool results are mostly text, and escaping text byte by byte is what costs most in a large
//! result. Bytes that need an escape are rare, so whole blocks are looked at together: a loop over
//! a block without an early exit is one that the compiler turns into vector instructions.

/// Bytes looked at together.
const BLOCK: usize = 32;

/// Appends a string as JSON, quotes included.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if let Some(block) = rest.first_chunk::<BLOCK>()
            && !any_special(block)
        {
            at += BLOCK;
            continue;
        }
        let end = rest.len().min(BLOCK);
        for (offset, byte) in rest[..end]
            .iter()
            .enumerate()
            .filter(|(_, byte)| is_special(**byte))
        {
            out.extend_from_slice(&bytes[written..at + offset]);
            write_escape(out, *byte);
            written = at + offset + 1;
        }
        at += end;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

fn any_special(block: &[u8; BLOCK]) -> bool {
    block
        .iter()
        .fold(false, |any, byte| any | is_special(*byte))
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches the loop over a block becomes vector code"
)]
const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0x0f)]];
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&digits);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_byte_is_escaped_as_serde_json_does_it() {
        let all: String = (0..=0x7f_u8).map(char::from).collect();
        for start in 0..40 {
            let text = format!("{}{all}é€😀", "x".repeat(start));
            assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
        assert_eq!(written(""), "\"\"");
    }

    proptest! {
        #[test]
        fn any_string_is_written_as_serde_json_does_it(text in "(?s).{0,200}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
