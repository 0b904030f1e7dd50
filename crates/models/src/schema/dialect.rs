//! The limits of each API: names, depth and keywords.

use crate::name::NameRule;

/// The limits of an API for a tool and its schema.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The rule for names of tools.
    pub(crate) tool_names: NameRule,
    /// The rule for names of properties. Without a rule any name is allowed.
    pub(crate) property_names: Option<NameRule>,
    /// The most tools in one request.
    pub(crate) max_tools: Option<usize>,
    /// The most characters of a tool's description.
    pub(crate) max_description: Option<usize>,
    /// The most levels of objects and arrays in a schema.
    pub(crate) max_depth: usize,
    /// Keywords that are not allowed at the root.
    pub(crate) not_at_root: &'static [&'static str],
    /// The only keywords that are allowed; `None` allows all of JSON Schema.
    pub(crate) keywords: Option<&'static [&'static str]>,
}

/// 10 levels: the maximum according to OpenAI's guide to structured outputs. The other APIs state
/// no number, but also refuse deeper schemas as too complex.
const MAX_DEPTH: usize = 10;

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn is_word_or_dash(character: char) -> bool {
    is_word(character) || character == '-'
}

fn is_word_dash_or_dot(character: char) -> bool {
    is_word_or_dash(character) || character == '.'
}

fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// OpenAI, for Chat Completions and Responses, with tools that are not `strict`.
pub(crate) const OPENAI: Dialect = Dialect {
    tool_names: NameRule {
        max: 64,
        allows: is_word_or_dash,
        may_begin: is_word_or_dash,
    },
    property_names: None,
    max_tools: Some(128),
    max_description: Some(1024),
    max_depth: MAX_DEPTH,
    not_at_root: &["oneOf", "anyOf", "allOf", "enum", "const", "not"],
    keywords: None,
};

/// Anthropic's Messages.
pub(crate) const ANTHROPIC: Dialect = Dialect {
    tool_names: NameRule {
        max: 64,
        allows: is_word_or_dash,
        may_begin: is_word_or_dash,
    },
    property_names: Some(NameRule {
        max: 64,
        allows: is_word_dash_or_dot,
        may_begin: is_word_dash_or_dot,
    }),
    max_tools: None,
    max_description: None,
    max_depth: MAX_DEPTH,
    not_at_root: &["oneOf", "anyOf", "allOf"],
    keywords: None,
};

/// Gemini, whose `Schema` is a subset of OpenAPI 3.0.
pub(crate) const GEMINI: Dialect = Dialect {
    tool_names: NameRule {
        max: 64,
        allows: is_word_dash_or_dot,
        may_begin: is_letter,
    },
    property_names: Some(NameRule {
        max: 64,
        allows: is_word,
        may_begin: is_letter,
    }),
    max_tools: Some(128),
    max_description: None,
    max_depth: MAX_DEPTH,
    not_at_root: &["anyOf", "enum"],
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "example",
        "anyOf",
        "default",
    ]),
};

impl Dialect {
    /// Whether types are those of OpenAPI: a single upper-case word, with a separate `nullable`.
    pub(crate) fn is_openapi(&self) -> bool {
        self.keywords.is_some()
    }
}
