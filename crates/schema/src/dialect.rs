//! The dialects of JSON Schema, and the form of each keyword in each of them. MCP's default is
//! 2020-12; draft-07 is supported too, because the schemas of many servers declare it.

use serde_json::{Map, Value};

use crate::number::Num;

/// A dialect that this crate understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft 2020-12: the dialect of a schema without `$schema`.
    #[default]
    Draft202012,
    /// Draft 7: `items` may be a list, `dependencies` is one keyword, and keywords beside `$ref` are
    /// ignored.
    Draft07,
}

/// The form that a keyword's value must have, and where its subschemas are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Schema,
    Schemas,
    SchemaOrSchemas,
    SchemaMap,
    Dependencies,
    Count,
    Number,
    Positive,
    Truth,
    Text,
    Identifier,
    Anchor,
    Names,
    NamesMap,
    TypeNames,
    Values,
    Anything,
}

impl Dialect {
    const DRAFT_2020_12: &'static str = "https://json-schema.org/draft/2020-12/schema";
    const DRAFT_07: &'static str = "http://json-schema.org/draft-07/schema";

    /// The dialect with this `$schema` URI, if it is supported.
    pub fn named(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        match uri {
            Self::DRAFT_2020_12 => Some(Self::Draft202012),
            Self::DRAFT_07 | "https://json-schema.org/draft-07/schema" => Some(Self::Draft07),
            _ => None,
        }
    }

    /// The URI by which a schema declares this dialect.
    pub fn uri(self) -> &'static str {
        match self {
            Self::Draft202012 => Self::DRAFT_2020_12,
            Self::Draft07 => Self::DRAFT_07,
        }
    }

    /// The form of a keyword that affects validation; `None` for all others, among them annotations (`title`,
    /// `examples`): a wrong annotation is not a reason to reject a tool.
    pub(crate) fn form(self, keyword: &str) -> Option<Form> {
        shared_form(keyword).or_else(|| match self {
            Self::Draft202012 => form_2020_12(keyword),
            Self::Draft07 => form_07(keyword),
        })
    }

    /// Whether the schema has a `$ref` beside which all other keywords are ignored.
    pub(crate) fn is_only_reference(self, schema: &Map<String, Value>) -> bool {
        self == Self::Draft07 && schema.contains_key("$ref")
    }

    /// The keywords of a schema that affect validation, with their forms.
    pub(crate) fn keywords(
        self,
        schema: &Map<String, Value>,
    ) -> impl Iterator<Item = (&str, &Value, Form)> {
        let is_only_reference = self.is_only_reference(schema);
        schema
            .iter()
            .filter(move |(keyword, _)| !is_only_reference || *keyword == "$ref")
            .filter_map(move |(keyword, value)| {
                self.form(keyword)
                    .map(|form| (keyword.as_str(), value, form))
            })
    }

    /// Whether a value is a well-formed schema of this dialect, as a `$ref` to its meta-schema
    /// requires.
    pub(crate) fn admits(self, value: &Value) -> bool {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::Bool(_) => {}
                Value::Object(schema) => {
                    for (_, value, form) in self.keywords(schema) {
                        if !form.admits(value) {
                            return false;
                        }
                        open.extend(form.subschemas(value));
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

impl Form {
    /// Whether a value has this form, without regard to its subschemas.
    pub(crate) fn admits(self, value: &Value) -> bool {
        match self {
            // A malformed subschema is reported at its own path.
            Self::Schema | Self::SchemaOrSchemas | Self::Anything => true,
            Self::Schemas => value.as_array().is_some_and(|list| !list.is_empty()),
            Self::SchemaMap => value.is_object(),
            Self::Dependencies => value.as_object().is_some_and(|map| {
                map.values()
                    .all(|value| !value.is_array() || is_names(value))
            }),
            Self::Count => count(value).is_some(),
            Self::Number => value.is_number(),
            Self::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Self::Truth => value.is_boolean(),
            Self::Text => value.is_string(),
            Self::Identifier => value.as_str().is_some_and(|id| !has_fragment(id)),
            Self::Anchor => value.as_str().is_some_and(is_anchor),
            Self::Names => is_names(value),
            Self::NamesMap => value
                .as_object()
                .is_some_and(|map| map.values().all(is_names)),
            Self::TypeNames => is_type_names(value),
            Self::Values => value.is_array(),
        }
    }

    /// The value that the keyword must have, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Schema => "a schema",
            Self::Schemas => "a list of at least one schema",
            Self::SchemaOrSchemas => "a schema or a list of schemas",
            Self::SchemaMap => "an object of schemas",
            Self::Dependencies => "an object of schemas or lists of names",
            Self::Count => "an integer that is not negative",
            Self::Number => "a number",
            Self::Positive => "a number above zero",
            Self::Truth => "true or false",
            Self::Text => "a string",
            Self::Identifier => "a URI reference without a fragment",
            Self::Anchor => {
                "a name of letters, digits, `-`, `_` and `.` that starts with a letter or `_`"
            }
            Self::Names => "a list of strings",
            Self::NamesMap => "an object of lists of strings",
            Self::TypeNames => {
                "null, boolean, object, array, number, string or integer, or a list of these"
            }
            Self::Values => "a list",
            Self::Anything => "any value",
        }
    }

    /// The subschemas in a value of this form.
    pub(crate) fn subschemas(self, value: &Value) -> impl Iterator<Item = &Value> {
        let is_one = match self {
            Self::Schema => true,
            Self::SchemaOrSchemas => !value.is_array(),
            _ => false,
        };
        let list = value
            .as_array()
            .filter(|_| matches!(self, Self::Schemas | Self::SchemaOrSchemas));
        let map = value
            .as_object()
            .filter(|_| matches!(self, Self::SchemaMap | Self::Dependencies))
            .into_iter()
            .flat_map(Map::values)
            .filter(move |value| self != Self::Dependencies || !value.is_array());
        is_one
            .then_some(value)
            .into_iter()
            .chain(list.into_iter().flatten())
            .chain(map)
    }
}

/// A count in a keyword: an integer that is not negative, `2.0` included.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    number
        .as_u64()
        .or_else(|| Num::of(number).to_integer()?.as_u64())
}

fn shared_form(keyword: &str) -> Option<Form> {
    Some(match keyword {
        "additionalProperties" | "contains" | "else" | "if" | "not" | "propertyNames" | "then" => {
            Form::Schema
        }
        "allOf" | "anyOf" | "oneOf" => Form::Schemas,
        "definitions" | "patternProperties" | "properties" => Form::SchemaMap,
        "maxItems" | "maxLength" | "maxProperties" | "minItems" | "minLength" | "minProperties" => {
            Form::Count
        }
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => Form::Number,
        "multipleOf" => Form::Positive,
        "uniqueItems" => Form::Truth,
        "$ref" | "$schema" | "format" | "pattern" => Form::Text,
        "required" => Form::Names,
        "type" => Form::TypeNames,
        "enum" => Form::Values,
        "const" => Form::Anything,
        _ => return None,
    })
}

fn form_2020_12(keyword: &str) -> Option<Form> {
    Some(match keyword {
        "contentSchema" | "items" | "unevaluatedItems" | "unevaluatedProperties" => Form::Schema,
        "prefixItems" => Form::Schemas,
        "$defs" | "dependentSchemas" => Form::SchemaMap,
        "maxContains" | "minContains" => Form::Count,
        "$dynamicRef" => Form::Text,
        "$id" => Form::Identifier,
        "$anchor" | "$dynamicAnchor" => Form::Anchor,
        "dependentRequired" => Form::NamesMap,
        _ => return None,
    })
}

fn form_07(keyword: &str) -> Option<Form> {
    Some(match keyword {
        "additionalItems" => Form::Schema,
        "items" => Form::SchemaOrSchemas,
        "dependencies" => Form::Dependencies,
        "$id" => Form::Text,
        _ => return None,
    })
}

fn has_fragment(id: &str) -> bool {
    id.find('#').is_some_and(|hash| hash + 1 < id.len())
}

fn is_anchor(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn is_names(value: &Value) -> bool {
    // A repeated name means nothing more than a single one, so it is accepted.
    value
        .as_array()
        .is_some_and(|names| names.iter().all(Value::is_string))
}

fn is_type_names(value: &Value) -> bool {
    let is_type = |value: &Value| {
        value.as_str().is_some_and(|name| {
            matches!(
                name,
                "null" | "boolean" | "object" | "array" | "number" | "string" | "integer"
            )
        })
    };
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_type),
        _ => is_type(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dialects_are_named_with_and_without_the_empty_fragment() {
        for uri in [
            "http://json-schema.org/draft-07/schema#",
            "http://json-schema.org/draft-07/schema",
        ] {
            assert_eq!(Dialect::named(uri), Some(Dialect::Draft07));
        }
        assert_eq!(
            Dialect::named(Dialect::Draft202012.uri()),
            Some(Dialect::Draft202012)
        );
        assert_eq!(
            Dialect::named("http://json-schema.org/draft-04/schema#"),
            None
        );
    }

    #[test]
    fn a_meta_schema_reference_asks_for_well_formed_keywords() {
        let dialect = Dialect::Draft202012;
        assert!(
            dialect.admits(&json!({"type": "object", "properties": {"a": {"minLength": 2.0}}}))
        );
        assert!(!dialect.admits(&json!({"properties": {"a": {"type": 1}}})));
        assert!(!dialect.admits(&json!({"allOf": []})));
        assert!(!dialect.admits(&json!(3)));
        assert!(dialect.admits(&json!({"items": true, "x-unknown": 1})));
        assert!(!dialect.admits(&json!({"items": [true]})));
        assert!(Dialect::Draft07.admits(&json!({"items": [true]})));
    }
}
