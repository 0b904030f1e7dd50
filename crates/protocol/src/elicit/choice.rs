//! Form fields with choices.

use serde::{Deserialize, Serialize};

use crate::{json, setter::setters};

/// A choice of one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "string")]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
    /// The initial choice. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl UntitledSingleSelectEnumSchema {
    /// Creates a choice between these values.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

setters! {
    impl UntitledSingleSelectEnumSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_default(default: impl Into<String>);
    }
}

/// A value with a display name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EnumOption {
    /// The value.
    #[serde(rename = "const")]
    pub value: String,
    /// The display name.
    pub title: String,
}

impl EnumOption {
    /// Creates a value with a display name.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}

/// A choice of one value, with display names. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "string", rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values.
    pub one_of: Vec<EnumOption>,
    /// The initial choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl TitledSingleSelectEnumSchema {
    /// Creates a choice between these values.
    pub fn new(options: Vec<EnumOption>) -> Self {
        Self {
            one_of: options,
            ..Self::default()
        }
    }
}

setters! {
    impl TitledSingleSelectEnumSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_default(default: impl Into<String>);
    }
}

/// A choice of several values. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "array", rename_all = "camelCase")]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The minimum number of choices.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub min_items: Option<u64>,
    /// The maximum number of choices.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_items: Option<u64>,
    /// The values.
    pub items: EnumItems,
    /// The initial choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
}

impl UntitledMultiSelectEnumSchema {
    /// Creates a choice of several of these values.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            items: EnumItems::new(values),
            ..Self::default()
        }
    }
}

setters! {
    impl UntitledMultiSelectEnumSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_min_items(min_items: u64);
        fn with_max_items(max_items: u64);
        fn with_default(default: Vec<String>);
    }
}

/// The values of a field with several choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "string")]
#[non_exhaustive]
pub struct EnumItems {
    /// The values.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
}

impl EnumItems {
    /// Creates a list of these values.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
        }
    }
}

/// A choice of several values, with display names. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "array", rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The minimum number of choices.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub min_items: Option<u64>,
    /// The maximum number of choices.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_items: Option<u64>,
    /// The values.
    pub items: TitledEnumItems,
    /// The initial choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
}

impl TitledMultiSelectEnumSchema {
    /// Creates a choice of several of these values.
    pub fn new(options: Vec<EnumOption>) -> Self {
        Self {
            items: TitledEnumItems::new(options),
            ..Self::default()
        }
    }
}

setters! {
    impl TitledMultiSelectEnumSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_min_items(min_items: u64);
        fn with_max_items(max_items: u64);
        fn with_default(default: Vec<String>);
    }
}

/// The values of a field with several choices, with display names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledEnumItems {
    /// The values.
    pub any_of: Vec<EnumOption>,
}

impl TitledEnumItems {
    /// Creates a list of these values.
    pub fn new(options: Vec<EnumOption>) -> Self {
        Self { any_of: options }
    }
}

/// A choice of one value with display names, in the form of 2025-06-18.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "string", rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
    /// The display names of the values, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enum_names: Option<Vec<String>>,
    /// The initial choice. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl LegacyTitledEnumSchema {
    /// Creates a choice between these values.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

setters! {
    impl LegacyTitledEnumSchema {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_enum_names(enum_names: Vec<String>);
        fn with_default(default: impl Into<String>);
    }
}
