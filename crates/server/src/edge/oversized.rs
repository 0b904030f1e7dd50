//! Finds the id of a request that was too long to be parsed.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use turnbuckle_protocol::IdRef;

/// How many bytes of a message are searched. Clients write the id before the params, which make the
/// message long.
const LOOKED_AT_BYTES: usize = 4096;

/// Returns the id of a request of which only the beginning is available; `None` if that does not
/// contain the id.
pub(crate) fn id_of(head: &[u8]) -> Option<IdRef<'_>> {
    let head = &head[..head.len().min(LOOKED_AT_BYTES)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut seen = MessageStart::default();
    // The end of the message is missing, so this fails. The members before that are read
    // nevertheless.
    let _ = seen.deserialize(&mut serde_json::Deserializer::from_str(text));
    seen.id
        .filter(|_| seen.has_method)
        .and_then(IdRef::from_raw)
}

/// The members at the beginning of a message.
#[derive(Default)]
struct MessageStart<'a> {
    id: Option<&'a RawValue>,
    has_method: bool,
}

impl<'de> DeserializeSeed<'de> for &mut MessageStart<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut MessageStart<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match &*name {
                "id" => self.id = Some(map.next_value()?),
                name => {
                    self.has_method |= name == "method";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_before_the_params_is_found() {
        for head in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":8,"x":"#,
            r#" { "method" : "a", "id" : 7 , "params": ["#,
            r#"{"x":{"id":8},"id":7,"method":"a","params":{}}"#,
        ] {
            assert_eq!(id_of(head.as_bytes()), Some(IdRef::Int(7)), "{head}");
        }
    }

    #[test]
    fn what_is_no_request_or_does_not_say_its_id_has_none() {
        for head in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"method":"a""#,
            r#"{"jsonrpc":"2.0","method":"a","params":{"id":7,"x":1"#,
            r#"{"method":"a","id":"torn"#,
            r#"{"method":"a","id":null,"params":{"#,
            r#"[{"method":"a","id":7,"#,
            "noise",
            "",
        ] {
            assert_eq!(id_of(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn a_head_that_ends_inside_a_character_is_read_as_far_as_it_goes() {
        let mut head = br#"{"id":7,"method":"a","params":{"x":""#.to_vec();
        head.extend_from_slice(&"é".as_bytes()[..1]);
        assert_eq!(id_of(&head), Some(IdRef::Int(7)));
    }
}
