//! The fields of a form: flat, and of a few kinds only, so that any client can show them.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Number, Value};

use super::{
    ElicitValue, LegacyTitledEnumSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use crate::{JsonObject, json, setter::setters, word::open_words};

/// The fields of a form, in display order.
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
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an optional field.
    pub fn with(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        self.properties.insert(name.into(), field.into());
        self
    }

    /// Adds a required field.
    pub fn with_required(
        mut self,
        name: impl Into<String>,
        field: impl Into<PrimitiveSchema>,
    ) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.with(name, field)
    }

    /// Returns the initial content of the form: the defaults of the fields that have one.
    pub fn defaults(&self) -> impl Iterator<Item = (&str, ElicitValue)> {
        self.properties
            .iter()
            .filter_map(|(name, field)| Some((name.as_str(), field.default_value()?)))
    }

    /// Returns whether a field is required.
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
    /// A boolean.
    Boolean(BooleanSchema),
    /// A choice of one value.
    SingleSelect(UntitledSingleSelectEnumSchema),
    /// A choice of one value, with display names. Since 2025-11-25.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// A choice of several values. Since 2025-11-25.
    MultiSelect(UntitledMultiSelectEnumSchema),
    /// A choice of several values, with display names. Since 2025-11-25.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// A choice of one value with display names, in the form of 2025-06-18.
    LegacyTitled(LegacyTitledEnumSchema),
}

impl PrimitiveSchema {
    /// Sets the display name.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        *self.label_mut().0 = Some(title.into());
        self
    }

    /// Sets the description, which says what belongs in the field.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        *self.label_mut().1 = Some(description.into());
        self
    }

    /// Returns the title and the description.
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

    /// Returns the initial value of the field.
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
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The minimum number of characters.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub min_length: Option<u64>,
    /// The maximum number of characters.
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
    /// Creates a field for any text.
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
    /// The format of a text.
    StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and time.
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
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// The maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The initial value. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Number>,
}

impl NumberSchema {
    /// Creates a field for any number.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a field for any integer.
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
    /// An integer.
    Integer,
}

/// A boolean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "boolean")]
#[non_exhaustive]
pub struct BooleanSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The initial value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl BooleanSchema {
    /// Creates a boolean field.
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
