//! Replaces `$ref` by its target, because no API accepts it everywhere.

use serde_json::{Map, Value};

/// The target of a reference within a document.
pub(super) fn resolve<'d>(document: &'d Value, reference: &str) -> Option<&'d Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(document);
    }
    if pointer.starts_with('/') {
        return document.pointer(&percent_decoded(pointer));
    }
    anchored(document, pointer)
}

/// The members of a reference's target, together with the members next to the reference.
pub(super) fn beside(target: &Map<String, Value>, here: &Map<String, Value>) -> Map<String, Value> {
    let mut all = target.clone();
    for (name, value) in here {
        if name != "$ref" {
            all.insert(name.clone(), value.clone());
        }
    }
    all
}

/// Finds the schema with this `$anchor`.
fn anchored<'d>(value: &'d Value, anchor: &str) -> Option<&'d Value> {
    match value {
        Value::Object(members) => {
            if members.get("$anchor").and_then(Value::as_str) == Some(anchor) {
                return Some(value);
            }
            members.values().find_map(|member| anchored(member, anchor))
        }
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        _ => None,
    }
}

/// Decodes the percent-encoding of a pointer in a URI.
fn percent_decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, others @ ..] = rest {
        let code = match (first, others) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = code {
            bytes.push(high * 16 + low);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| pointer.to_owned())
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_inside_the_document_are_found() {
        let document = json!({"$defs": {"a b": {"type": "string"}, "c": {"$anchor": "here"}}});
        for (reference, wanted) in [
            ("#", Some(&document)),
            ("#/$defs/a%20b", document["$defs"].get("a b")),
            ("#here", document["$defs"].get("c")),
            ("#/nowhere", None),
            ("https://example.com/schema", None),
        ] {
            assert_eq!(resolve(&document, reference), wanted, "{reference}");
        }
    }
}
