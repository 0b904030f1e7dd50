//! Violations: a check reports one for each mistake in an instance.

use std::fmt;

use serde::Serialize;

/// One mistake in an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The JSON pointer of the invalid value in the instance; empty for the instance itself.
    pub pointer: String,
    /// The keyword that rejected it.
    pub keyword: Keyword,
    /// The expected value, as a clause: `an integer of at least 1`.
    pub expected: String,
    /// The value that was found, shortened: `the string "five"`.
    pub found: String,
    /// The nearest valid name or value, if it is near enough to have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// For `anyOf` and `oneOf`: the violations of the branch that came closest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Violation>,
}

impl Violation {
    pub(crate) fn new(pointer: String, keyword: Keyword, expected: String, found: String) -> Self {
        Self {
            pointer,
            keyword,
            expected,
            found,
            nearest: None,
            because: Vec::new(),
        }
    }

    pub(crate) fn nearest(mut self, nearest: Option<String>) -> Self {
        self.nearest = nearest;
        self
    }

    pub(crate) fn because(mut self, because: Vec<Violation>) -> Self {
        self.because = because;
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "the value"
        } else {
            &self.pointer
        };
        write!(
            f,
            "{place}: expected {}, found {}",
            self.expected, self.found
        )?;
        match &self.nearest {
            Some(nearest) => write!(f, " (did you mean {nearest}?)"),
            None => Ok(()),
        }
    }
}

macro_rules! keywords {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+) => {
        /// The keyword behind a [`Violation`], by its name in the schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Keyword {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $variant,)+
        }

        impl Keyword {
            /// The keyword as it is written in the schema.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

keywords! {
    /// `type`: the value is of another kind.
    Type = "type",
    /// `enum`: the value is not on the list.
    Enum = "enum",
    /// `const`: the value is not the constant.
    Const = "const",
    /// `minimum`: the number is too small.
    Minimum = "minimum",
    /// `exclusiveMinimum`: the number is not above the bound.
    ExclusiveMinimum = "exclusiveMinimum",
    /// `maximum`: the number is too large.
    Maximum = "maximum",
    /// `exclusiveMaximum`: the number is not below the bound.
    ExclusiveMaximum = "exclusiveMaximum",
    /// `multipleOf`: the number is not a multiple.
    MultipleOf = "multipleOf",
    /// `minLength`: the string has too few characters.
    MinLength = "minLength",
    /// `maxLength`: the string has too many characters.
    MaxLength = "maxLength",
    /// `pattern`: the string does not match.
    Pattern = "pattern",
    /// `format`: the string does not have the format (only if formats are checked).
    Format = "format",
    /// `minItems`: the array is too short.
    MinItems = "minItems",
    /// `maxItems`: the array is too long.
    MaxItems = "maxItems",
    /// `uniqueItems`: two items are equal.
    UniqueItems = "uniqueItems",
    /// `contains` or `minContains`: too few items match.
    Contains = "contains",
    /// `maxContains`: too many items match.
    MaxContains = "maxContains",
    /// `required`: a property is missing.
    Required = "required",
    /// `dependentRequired`: a property that another one needs is missing.
    DependentRequired = "dependentRequired",
    /// `minProperties`: the object has too few members.
    MinProperties = "minProperties",
    /// `maxProperties`: the object has too many members.
    MaxProperties = "maxProperties",
    /// `additionalProperties`: the name is not known.
    AdditionalProperties = "additionalProperties",
    /// `unevaluatedProperties`: no part of the schema evaluates the property.
    UnevaluatedProperties = "unevaluatedProperties",
    /// `unevaluatedItems`: no part of the schema evaluates the item.
    UnevaluatedItems = "unevaluatedItems",
    /// `anyOf`: no branch matches.
    AnyOf = "anyOf",
    /// `oneOf`: no branch matches, or more than one does.
    OneOf = "oneOf",
    /// `not`: the value matches a schema that it must not match.
    Not = "not",
    /// The schema `false`: no value is allowed here.
    Never = "false",
    /// `$ref` to a meta-schema: the value is not a well-formed schema.
    Reference = "$ref",
    /// No keyword: the check reached a limit of this crate, so the value cannot be judged.
    Limit = "limit",
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
