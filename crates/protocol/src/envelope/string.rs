//! Serialises strings to JSON.

use super::special;

/// Appends a string as JSON, including quotes. Runs without escapes are found many bytes at a time and
/// copied as a whole.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Includes space for a line end in every sixteen bytes, so that most texts need only one
    // allocation.
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, tail) = rest.split_at(special::find(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = tail.split_first() else {
            break;
        };
        write_escape(out, *byte);
        rest = after;
    }
    out.push(b'"');
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
