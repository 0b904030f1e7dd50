//! Finds the id of an answer that is not valid JSON or is cut off.

use super::Id;

/// Returns the id of a response that cannot be parsed, or `None` if the text may be anything else. The
/// ids of requests are not returned, because a peer may print a request that it received.
///
/// ```
/// use turnbuckle_protocol::{Id, envelope::id_of_broken_answer};
///
/// let answer = br#"{"jsonrpc":"2.0","id":7,"result":{"mean":NaN}}"#;
/// assert_eq!(id_of_broken_answer(answer), Some(Id::Int(7)));
/// ```
pub fn id_of_broken_answer(message: &[u8]) -> Option<Id> {
    let text = match std::str::from_utf8(message) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&message[..error.valid_up_to()]).ok()?,
    };
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut seen = Seen::default();
    seen.read(text.strip_prefix('{')?);
    let is_named = seen.has_version || !seen.has_others;
    let id = seen.id.filter(|_| is_named && !seen.has_method)?;
    serde_json::from_str(id).ok()
}

/// The members of the envelope.
#[derive(Default)]
struct Seen<'a> {
    id: Option<&'a str>,
    has_version: bool,
    has_method: bool,
    has_others: bool,
}

impl<'a> Seen<'a> {
    /// Reads the members of an object as far as possible. The text between names, strings and brackets
    /// may be anything.
    fn read(&mut self, text: &'a str) {
        let bytes = text.as_bytes();
        let (mut at, mut depth) = (0, 1_usize);
        // The current member, and where its value begins.
        let mut member: Option<(&str, usize)> = None;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let Some(end) = end_of_string(bytes, at + 1) else {
                        break;
                    };
                    let after = text[end..].trim_start();
                    if depth == 1 && member.is_none() && after.starts_with(':') {
                        let value = text.len() - after.len() + 1;
                        member = Some((&text[at + 1..end - 1], value));
                        at = value;
                    } else {
                        at = end;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            let is_end = depth == 0 || (depth == 1 && *byte == b',');
            if is_end && let Some((name, start)) = member.take() {
                self.take(name, Some(text[start..at].trim()));
            }
            if depth == 0 {
                return;
            }
            at += 1;
        }
        if let Some((name, _)) = member {
            // The value may be incomplete.
            self.take(name, None);
        }
    }

    fn take(&mut self, name: &str, value: Option<&'a str>) {
        match name {
            "id" => self.id = value,
            "jsonrpc" => self.has_version = true,
            "method" => self.has_method |= value != Some("null"),
            "params" | "result" | "error" => {}
            _ => self.has_others = true,
        }
    }
}

/// Returns the position after the closing quote of a string.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_answer_is_found_wherever_it_is() {
        for head in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":["#,
            r#" { "id" : 7 , "jsonrpc": "2.0", "result": {"#,
            r#"{"jsonrpc":"2.0","result":{"id":8,"x":[NaN,"]}"]},"id":7}"#,
            r#"{"jsonrpc":"2.0","method":null,"id":7,"result":{"x":"a \" {"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{",
        ] {
            assert_eq!(
                id_of_broken_answer(head.as_bytes()),
                Some(Id::Int(7)),
                "{head}"
            );
        }
        let text = br#"{"id":"a","result":{"#;
        assert_eq!(id_of_broken_answer(text), Some(Id::from("a")));
    }

    #[test]
    fn an_id_inside_the_result_is_not_taken_for_it() {
        for head in [
            r#"{"jsonrpc":"2.0","result":{"id":7,"x":1"#,
            r#"{"result":[{"id":7,"#,
            r#"{"jsonrpc":"2.0","id":7"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/c"#,
            r#"{"jsonrpc":"2.0","params":{"x":NaN},"method":"tools/call","id":7}"#,
            r#"{"level":"warn","id":7,"error":NaN}"#,
            r#"{"jsonrpc":"2.0","x":"id","id"#,
            r#"{]"id":7,"#,
            "noise",
            "",
        ] {
            assert_eq!(id_of_broken_answer(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn a_head_that_ends_inside_a_character_is_read_as_far_as_it_goes() {
        let mut head = br#"{"id":7,"result":""#.to_vec();
        head.extend_from_slice(&"ü".as_bytes()[..1]);
        assert_eq!(id_of_broken_answer(&head), Some(Id::Int(7)));
    }
}
