//! The fields of a form: flat, and of a few kinds only, so that any client can draw them.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Number, Value};

use super::{
    ElicitValue, LegacyTitledEnumSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use crate::{JsonObject, json, setter::setters, word::open_words};

/// The fields of a form, in the order they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "object")]
#[non_exhaustive]
pub struct ElicitSchema {
    /// The dialect of JSON Schema. Since 2025-11-25.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The fields.
    pub properties: IndexMap<String, PrimitiveSchema>,
    /// The names of the fields that must be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

impl ElicitSchema {
    /// A form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that may be left empty.
    pub fn with(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        self.properties.insert(name.into(), field.into());
        self
    }

    /// Adds a field that must be filled in.
    pub fn with_required(
        mut self,
        name: impl Into<String>,
        field: impl Into<PrimitiveSchema>,
    ) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.with(name, field)
    }

    /// The initial content of the form: the defaults of the fields that have one.
    pub fn defaults(&self) -> impl Iterator<Item = (&str, ElicitValue)> {
        self.properties
            .iter()
            .filter_map(|(name, field)| Some((name.as_str(), field.default_value()?)))
    }

    /// Whether a field must be filled in.
    pub fn is_required(&self, name: &str) -> bool {
        self.required
            .iter()
            .flatten()
            .any(|required| required == name)
    }
}

setters! {
    impl ElicitSchema {
        fn with_schema(schema: impl Into<String>);
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several values.
    SingleSelect(UntitledSingleSelectEnumSchema),
    /// One of several values with names for people. Since 2025-11-25.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Some of several values. Since 2025-11-25.
    MultiSelect(UntitledMultiSelectEnumSchema),
    /// Some of several values with names for people. Since 2025-11-25.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// One of several values with names for people, as 2025-06-18 writes it.
    LegacyTitled(LegacyTitledEnumSchema),
}

impl PrimitiveSchema {
    /// Gives the field a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        *self.label_mut().0 = Some(title.into());
        self
    }

    /// Says what belongs in the field.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        *self.label_mut().1 = Some(description.into());
        self
    }

    /// The title and the description.
    fn label_mut(&mut self) -> (&mut Option<String>, &mut Option<String>) {
        match self {
            Self::String(field) => (&mut field.title, &mut field.description),
            Self::Number(field) => (&mut field.title, &mut field.description),
            Self::Boolean(field) => (&mut field.title, &mut field.description),
            Self::SingleSelect(field) => (&mut field.title, &mut field.description),
            Self::TitledSingleSelect(field) => (&mut field.title, &mut field.description),
            Self::MultiSelect(field) => (&mut field.title, &mut field.description),
            Self::TitledMultiSelect(field) => (&mut field.title, &mut field.description),
            Self::LegacyTitled(field) => (&mut field.title, &mut field.description),
        }
    }

    /// The initial value of the field.
    pub fn default_value(&self) -> Option<ElicitValue> {
        match self {
            Self::String(field) => field.default.clone().map(Into::into),
            Self::Number(field) => field.default.clone().map(Into::into),
            Self::Boolean(field) => field.default.map(Into::into),
            Self::SingleSelect(field) => field.default.clone().map(Into::into),
            Self::TitledSingleSelect(field) => field.default.clone().map(Into::into),
            Self::LegacyTitled(field) => field.default.clone().map(Into::into),
            Self::MultiSelect(field) => field.default.clone().map(Into::into),
            Self::TitledMultiSelect(field) => field.default.clone().map(Into::into),
        }
    }
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn read<T: de::DeserializeOwned, E: de::Error>(members: JsonObject) -> Result<T, E> {
            T::deserialize(Value::Object(members)).map_err(E::custom)
        }

        let members = JsonObject::deserialize(deserializer)?;
        let has = |name: &str| members.contains_key(name);
        match members.get("type").and_then(Value::as_str) {
            Some("string") if has("oneOf") => read(members).map(Self::TitledSingleSelect),
            Some("string") if has("enumNames") => read(members).map(Self::LegacyTitled),
            Some("string") if has("enum") => read(members).map(Self::SingleSelect),
            Some("string") => read(members).map(Self::String),
            Some("number" | "integer") => read(members).map(Self::Number),
            Some("boolean") => read(members).map(Self::Boolean),
            Some("array")
                if members
                    .get("items")
                    .is_some_and(|items| items.get("anyOf").is_some()) =>
            {
                read(members).map(Self::TitledMultiSelect)
            }
            Some("array") => read(members).map(Self::MultiSelect),
            Some(other) => Err(de::Error::custom(format_args!(
                "a field of a form cannot be of type `{other}`; use string, number, integer, boolean or array"
            ))),
            None => Err(de::Error::custom("a field of a form needs a `type`")),
        }
    }
}

/// Derives the conversion of each kind of field into [`PrimitiveSchema`].
macro_rules! field {
    ($($schema:ident => $variant:ident),+ $(,)?) => {$(
        impl From<$schema> for PrimitiveSchema {
            fn from(schema: $schema) -> Self {
                Self::$variant(schema)
            }
        }
    )+};
}

field!(
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    UntitledSingleSelectEnumSchema => SingleSelect,
    TitledSingleSelectEnumSchema => TitledSingleSelect,
    UntitledMultiSelectEnumSchema => MultiSelect,
    TitledMultiSelectEnumSchema => TitledMultiSelect,
    LegacyTitledEnumSchema => LegacyTitled,
);

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "string", rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringSchema {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The fewest characters.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub min_length: Option<u64>,
    /// The most characters.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_length: Option<u64>,
    /// The format of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// The initial value. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl StringSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_min_length(min_length: u64);
        fn with_max_length(max_length: u64);
        fn with_format(format: StringFormat);
        fn with_default(default: impl Into<String>);
    }
}

open_words! {
    /// A kind of text.
    StringFormat {
        /// An address for mail.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day.
        Date = "date",
        /// A moment.
        DateTime = "date-time",
    }
}

/// A number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whether the number must be an integer.
    #[serde(rename = "type")]
    pub kind: NumberKind,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// The greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The initial value. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Number>,
}

impl NumberSchema {
    /// Any number.
    pub fn new() -> Self {
        Self::default()
    }

    /// Any whole number.
    pub fn integer() -> Self {
        Self {
            kind: NumberKind::Integer,
            ..Self::default()
        }
    }
}

setters! {
    impl NumberSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_minimum(minimum: impl Into<Number>);
        fn with_maximum(maximum: impl Into<Number>);
        fn with_default(default: impl Into<Number>);
    }
}

/// Whether a number must be an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NumberKind {
    /// Any number.
    #[default]
    Number,
    /// A whole one.
    Integer,
}

/// Yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "boolean")]
#[non_exhaustive]
pub struct BooleanSchema {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The initial choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl BooleanSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_default(default: bool);
    }
}
