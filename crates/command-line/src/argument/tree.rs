//! A JSON value that is built step by step, and whose numbers keep their digits.

use std::fmt::Write as _;

/// How deep a value may be nested: as deep as other JSON parsers allow, and far from exhausting the stack.
const MAX_DEPTH: usize = 128;

/// A JSON value whose leaves are kept as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Any value except an object or a list, as the JSON text that will be sent.
    Leaf(String),
    /// Members in their order.
    Object(Vec<(String, Tree)>),
    /// Items in their order.
    List(Vec<Tree>),
}

impl Tree {
    /// An object without members.
    pub fn object() -> Self {
        Self::Object(Vec::new())
    }

    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Leaf(serde_json::Value::from(text).to_string())
    }

    /// Parses JSON; numbers keep their digits.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        if depth(json) > MAX_DEPTH {
            return Err(serde::de::Error::custom(format_args!(
                "it is nested deeper than {MAX_DEPTH} levels"
            )));
        }
        Self::parse_inside(json)
    }

    fn parse_inside(json: &str) -> Result<Self, serde_json::Error> {
        let raw: Box<serde_json::value::RawValue> = serde_json::from_str(json)?;
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let members: Members = serde_json::from_str(text)?;
                let members = members.0.into_iter();
                Self::Object(
                    members
                        .map(|(name, raw)| Ok((name, Self::parse_inside(raw.get())?)))
                        .collect::<Result<_, serde_json::Error>>()?,
                )
            }
            Some(b'[') => {
                let items: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(text)?;
                let items = items.iter().map(|raw| Self::parse_inside(raw.get()));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            _ => Self::Leaf(text.to_owned()),
        })
    }

    /// The JSON text.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    /// The JSON text, indented; numbers keep their digits.
    pub fn to_pretty(&self) -> String {
        let mut json = String::new();
        self.write_pretty(&mut json, 0);
        json
    }

    fn write_pretty(&self, json: &mut String, depth: usize) {
        let line = |json: &mut String, depth: usize| {
            json.push('\n');
            json.extend(std::iter::repeat_n("  ", depth));
        };
        match self {
            Self::Object(members) if !members.is_empty() => {
                json.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    json.push_str(if index == 0 { "" } else { "," });
                    line(json, depth + 1);
                    // Writing to a String cannot fail.
                    let _ = write!(json, "{}: ", serde_json::Value::from(name.as_str()));
                    value.write_pretty(json, depth + 1);
                }
                line(json, depth);
                json.push('}');
            }
            Self::List(items) if !items.is_empty() => {
                json.push('[');
                for (index, item) in items.iter().enumerate() {
                    json.push_str(if index == 0 { "" } else { "," });
                    line(json, depth + 1);
                    item.write_pretty(json, depth + 1);
                }
                line(json, depth);
                json.push(']');
            }
            other => other.write(json),
        }
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Leaf(leaf) => json.push_str(leaf),
            Self::Object(members) => {
                json.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    // Writing to a String cannot fail.
                    let _ = write!(json, "{comma}{}:", serde_json::Value::from(name.as_str()));
                    value.write(json);
                }
                json.push('}');
            }
            Self::List(items) => {
                json.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    item.write(json);
                }
                json.push(']');
            }
        }
    }

    /// The value at a path of names, created if it does not exist; `None` if another kind of value is in the way.
    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        let Some((name, rest)) = path.split_first() else {
            return Some(self);
        };
        let child = match self {
            Self::Object(members) => {
                let index = members.iter().position(|(member, _)| member == name);
                let index = index.unwrap_or_else(|| {
                    members.push(((*name).to_owned(), Self::object()));
                    members.len() - 1
                });
                &mut members[index].1
            }
            Self::List(items) => items.get_mut(name.parse::<usize>().ok()?)?,
            Self::Leaf(_) => return None,
        };
        child.at_mut(rest)
    }
}

/// The nesting depth of JSON, computed in one pass. Text that is not JSON gets some depth too.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.bytes();
    let mut is_text = false;
    while let Some(byte) = bytes.next() {
        match byte {
            // An escaped character does not end a string.
            b'\\' if is_text => {
                bytes.next();
            }
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The members of an object in order. Of duplicates the last one counts, as with JSON parsers.
struct Members(Vec<(String, Box<serde_json::value::RawValue>)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Members, A::Error> {
                let mut members: Vec<(String, Box<serde_json::value::RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, _>()? {
                    match members.iter_mut().find(|(known, _)| *known == name) {
                        Some(known) => known.1 = value,
                        None => members.push((name, value)),
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_survive() {
        let json = r#"{"big":123456789012345678901234567890,"exact":1.10,"deep":{"list":[1e400]}}"#;
        assert_eq!(Tree::parse(json).unwrap().to_json(), json);
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(Tree::parse(&nested(MAX_DEPTH)).is_ok());
        let refused = Tree::parse(&nested(100_000)).unwrap_err().to_string();
        assert!(refused.contains("deeper than 128 levels"), "{refused}");
        let text = format!(r#"["\"{}"]"#, "[".repeat(1_000));
        assert_eq!(Tree::parse(&text).unwrap().to_json(), text);
    }

    #[test]
    fn places_are_made_on_the_way() {
        let mut tree = Tree::object();
        *tree.at_mut(&["a", "b"]).unwrap() = Tree::Leaf("1".into());
        assert_eq!(tree.to_json(), r#"{"a":{"b":1}}"#);
        assert_eq!(tree.at_mut(&["a", "b", "c"]), None);
    }
}
