//! Completion: suggestions for an argument that a user types.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Meta, OtherMembers, json,
    setter::setters,
    tagged::{self, Tagged},
};

/// The params of `completion/complete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// The prompt or resource template of the argument.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// The argument, with the text typed so far.
    pub argument: CompleteArgument,
    /// The values of other arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompleteContext>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CompleteRequestParams {
    /// Requests completions for an argument with the text typed so far.
    pub fn new(
        reference: Reference,
        argument: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let argument = CompleteArgument {
            name: argument.into(),
            value: value.into(),
        };
        Self {
            reference,
            argument,
            context: None,
            meta: None,
        }
    }

    /// Adds the value of another argument.
    pub fn with_known(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let context = self.context.get_or_insert_default();
        context
            .arguments
            .get_or_insert_default()
            .insert(name.into(), value.into());
        self
    }
}

setters! {
    impl CompleteRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// A reference to a prompt or a resource template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt.
    Prompt(PromptReference),
    /// A resource template.
    Resource(ResourceTemplateReference),
}

impl Reference {
    /// Refers to a prompt by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference {
            name: name.into(),
            title: None,
        })
    }

    /// Refers to a resource template, or a resource, by its URI.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceTemplateReference { uri: uri.into() })
    }
}

impl<'de> Tagged<'de> for Reference {
    const TAG: &'static str = "type";

    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error> {
        match tag {
            Some("ref/prompt") => PromptReference::deserialize(rest).map(Self::Prompt),
            Some("ref/resource") => {
                ResourceTemplateReference::deserialize(rest).map(Self::Resource)
            }
            other => Err(tagged::unknown(
                Self::TAG,
                other,
                "ref/prompt, ref/resource",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

/// A prompt, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "ref/prompt")]
#[non_exhaustive]
pub struct PromptReference {
    /// The name for programmatic use.
    pub name: String,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl PromptReference {
    /// Refers to a prompt by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
        }
    }
}

setters! {
    impl PromptReference {
        fn with_title(title: impl Into<String>);
    }
}

/// A resource template, by its URI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "ref/resource")]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// The URI template, or a URI.
    pub uri: String,
}

impl ResourceTemplateReference {
    /// Refers to a resource template, or a resource, by its URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The argument to complete, with the text that the user has typed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteArgument {
    /// The name of the argument.
    pub name: String,
    /// The text typed so far.
    pub value: String,
}

impl CompleteArgument {
    /// Creates an argument from its name and the text typed so far.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// The context of a completion: values of other arguments. Since 2025-06-18.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteContext {
    /// The values of other arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<IndexMap<String, String>>,
}

impl CompleteContext {
    /// Creates a context with the values of other arguments.
    pub fn new(arguments: IndexMap<String, String>) -> Self {
        Self {
            arguments: Some(arguments),
        }
    }
}

/// The answer to `completion/complete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The proposals.
    pub completion: Completion,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl CompleteResult {
    /// Creates a result with these proposals; see [`Completion::new`].
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            completion: Completion::new(values),
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

impl From<Completion> for CompleteResult {
    fn from(completion: Completion) -> Self {
        Self {
            completion,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl CompleteResult {
        fn with_meta(meta: Meta);
    }
}

/// Proposals for an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The proposals, at most [`Completion::MAX_VALUES`], best first.
    pub values: Vec<String>,
    /// The total number of proposals, if known.
    #[serde(
        default,
        deserialize_with = "json::whole_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub total: Option<u64>,
    /// Whether there are more proposals than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// The limit on values in an answer, in the schema of every revision.
    pub const MAX_VALUES: usize = 100;

    /// Creates a completion with the first [`Self::MAX_VALUES`] of these values. `has_more` says
    /// whether there are more.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut all = values.into_iter().map(Into::into);
        let values = all.by_ref().take(Self::MAX_VALUES).collect();
        let has_more = all.next().map(|_| true);
        Self {
            values,
            total: None,
            has_more,
        }
    }
}

setters! {
    impl Completion {
        fn with_total(total: u64);
        fn with_has_more(has_more: bool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_a_hundred_values_are_sent() {
        let completion = Completion::new((0..101).map(|number| number.to_string()));
        assert_eq!(
            (completion.values.len(), completion.has_more),
            (100, Some(true))
        );
        assert_eq!(Completion::new(["a"]).has_more, None);
    }

    #[test]
    fn a_reference_is_told_by_its_type() {
        let json = r#"{"name":"review","type":"ref/prompt"}"#;
        let reference: Reference = serde_json::from_str(json).unwrap();
        assert_eq!(reference, Reference::prompt("review"));
        assert!(serde_json::from_str::<Reference>(r#"{"name":"review"}"#).is_err());
    }
}
