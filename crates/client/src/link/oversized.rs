//! Which request an answer belonged to that was too long to be read.

use turnbuckle_protocol::Id;

/// How far into the message to look, in bytes. Every implementation met so far writes the id of an
/// answer before its result, or after it; there is no third place worth a longer search.
const LOOKED_AT_BYTES: usize = 256;

/// The id of an answer of which only the beginning is there, if the id comes before the result. Requests
/// have ids of their own: a server may print one that it received.
pub(super) fn id_of(head: &[u8]) -> Option<Id> {
    let head = &head[..head.len().min(LOOKED_AT_BYTES)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let members = text.trim_start().strip_prefix('{')?;
    // Whatever is behind the first nested value may belong to that value.
    let flat = members.split(['{', '[']).next()?;
    if flat.contains("\"method\"") {
        return None;
    }
    let value = flat
        .split_once("\"id\"")?
        .1
        .trim_start()
        .strip_prefix(':')?;
    let end = value.find(',')?;
    serde_json::from_str(&value[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_before_the_result_is_found() {
        for head in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":["#,
            r#" { "id" : 7 , "jsonrpc": "2.0", "result": {"#,
        ] {
            assert_eq!(id_of(head.as_bytes()), Some(Id::Int(7)), "{head}");
        }
        assert_eq!(id_of(br#"{"id":"a","result":{"#), Some(Id::from("a")));
    }

    #[test]
    fn an_id_inside_the_result_is_not_taken_for_it() {
        for head in [
            r#"{"jsonrpc":"2.0","result":{"id":7,"x":1"#,
            r#"{"result":[{"id":7,"#,
            r#"{"jsonrpc":"2.0","id":7"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na"#,
            "noise",
            "",
        ] {
            assert_eq!(id_of(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn a_head_that_ends_inside_a_character_is_read_as_far_as_it_goes() {
        let mut head = br#"{"id":7,"result":""#.to_vec();
        head.extend_from_slice(&"ü".repeat(200).into_bytes());
        assert_eq!(id_of(&head), Some(Id::Int(7)));
    }
}
