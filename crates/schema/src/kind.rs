//! The kinds of JSON values: the sets that `type` describes, and their names in messages.

use serde_json::Value;

use crate::number::Num;

/// A set of kinds. `number` contains `integer`; `integer` alone admits only numbers without a
/// fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    pub(crate) const STRING: Self = Self(1 << 2);
    pub(crate) const INTEGER: Self = Self(1 << 3);
    pub(crate) const NUMBER: Self = Self(1 << 4);
    pub(crate) const ARRAY: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);
    pub(crate) const ALL: Self = Self(0x7F);
    pub(crate) const NONE: Self = Self(0);

    const NAMED: [(Self, &'static str, &'static str); 7] = [
        (Self::STRING, "string", "a string"),
        (Self::INTEGER, "integer", "an integer"),
        (Self::NUMBER, "number", "a number"),
        (Self::BOOLEAN, "boolean", "a boolean"),
        (Self::ARRAY, "array", "an array"),
        (Self::OBJECT, "object", "an object"),
        (Self::NULL, "null", "null"),
    ];

    /// The set that a well-formed `type` describes.
    pub(crate) fn of_type(keyword: &Value) -> Self {
        match keyword {
            Value::Array(names) => names
                .iter()
                .fold(Self::NONE, |set, name| set.or(Self::of_type(name))),
            name => Self::NAMED
                .iter()
                .find(|(_, word, _)| Some(*word) == name.as_str())
                .map_or(Self::NONE, |(kind, _, _)| *kind),
        }
    }

    /// The smallest set that contains a value.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::String(_) => Self::STRING,
            Value::Number(number) if Num::of(number).is_integer() => Self::INTEGER,
            Value::Number(_) => Self::NUMBER,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) fn admits(self, value: &Value) -> bool {
        if self == Self::ALL {
            return true;
        }
        let kind = Self::of_value(value);
        self.has(kind) || (kind == Self::INTEGER && self.has(Self::NUMBER))
    }

    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        // A number that must be an integer is an integer.
        let widened = |set: Self| {
            if set.has(Self::NUMBER) {
                set.or(Self::INTEGER)
            } else {
                set
            }
        };
        Self(widened(self).0 & widened(other).0)
    }

    /// The kinds as text: `a string or null`.
    pub(crate) fn in_words(self) -> String {
        let has_number = self.has(Self::NUMBER);
        let words: Vec<&str> = Self::NAMED
            .iter()
            .filter(|(kind, _, _)| self.has(*kind) && !(has_number && *kind == Self::INTEGER))
            .map(|(_, _, words)| *words)
            .collect();
        match words.split_last() {
            None => "nothing".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        }
    }
}

/// The kind of a value, as text.
pub(crate) fn name(value: &Value) -> &'static str {
    let kind = Kinds::of_value(value);
    Kinds::NAMED
        .iter()
        .find(|(other, _, _)| *other == kind)
        .map_or("a value", |(_, _, words)| words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_is_any_number_without_a_fraction() {
        let integer = Kinds::of_type(&json!("integer"));
        assert!(integer.admits(&json!(5)) && integer.admits(&json!(5.0)));
        assert!(!integer.admits(&json!(5.5)) && !integer.admits(&json!("5")));
        assert!(Kinds::of_type(&json!("number")).admits(&json!(5)));
        assert_eq!(integer.and(Kinds::NUMBER), Kinds::INTEGER);
    }

    #[test]
    fn kinds_read_as_words() {
        assert_eq!(
            Kinds::of_type(&json!(["null", "string"])).in_words(),
            "a string or null"
        );
        assert_eq!(
            Kinds::of_type(&json!(["integer", "number"])).in_words(),
            "a number"
        );
        assert_eq!(Kinds::of_type(&json!("object")).in_words(), "an object");
        assert_eq!(name(&json!([])), "an array");
    }
}
