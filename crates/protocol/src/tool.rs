//! Tools: functions of a server that a model may call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CacheScope, Cursor, Icon, JsonObject, Meta, OtherMembers, cache::cacheable, json,
    setter::setters, word::open_words,
};

/// A tool: a function of a server that a model may call, with its arguments and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// The name, which calls use.
    pub name: String,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the arguments; its root describes an object.
    pub input_schema: JsonObject,
    /// The JSON Schema of the structured content. An object until 2025-11-25, any JSON since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints about the effects of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Whether the tool may run as a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// Icons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Tool {
    /// Creates a tool with a name and the schema of its arguments.
    ///
    /// Every revision requires `"type": "object"` at the root of that schema, so it is added if it is
    /// missing.
    ///
    /// ```
    /// use turnbuckle_protocol::Tool;
    ///
    /// let tool = Tool::new("now", Default::default()).with_description("The time of day.");
    /// assert_eq!(tool.input_schema["type"], "object");
    /// ```
    pub fn new(name: impl Into<String>, mut input_schema: JsonObject) -> Self {
        input_schema
            .entry("type")
            .or_insert_with(|| "object".into());
        Self {
            name: name.into(),
            input_schema,
            ..Self::default()
        }
    }

    /// Sets whether the tool may run as a task of 2025-11-25.
    pub fn with_task_support(mut self, support: TaskSupport) -> Self {
        self.execution = Some(ToolExecution {
            task_support: Some(support),
        });
        self
    }

    /// Adds an icon.
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.get_or_insert_default().push(icon);
        self
    }
}

setters! {
    impl Tool {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_output_schema(output_schema: impl Into<Value>);
        fn with_annotations(annotations: ToolAnnotations);
        fn with_meta(meta: Meta);
    }
}

/// Hints about the effects of a tool. They come from its author and are not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The display name, in the place where older revisions expect it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the tool only reads. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Whether changes may be destructive. Defaults to true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Whether a repeated call with the same arguments has no further effect. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Whether the tool interacts with external systems. Defaults to true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Creates empty annotations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the tool only reads, according to its hints.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Returns whether changes may be destructive, according to its hints.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Returns whether a repeated call with the same arguments has no further effect, according to its
    /// hints.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Returns whether the tool interacts with external systems, according to its hints.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

setters! {
    impl ToolAnnotations {
        fn with_title(title: impl Into<String>);
        fn with_read_only_hint(read_only_hint: bool);
        fn with_destructive_hint(destructive_hint: bool);
        fn with_idempotent_hint(idempotent_hint: bool);
        fn with_open_world_hint(open_world_hint: bool);
    }
}

/// How a tool may run. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether a call may become a task; forbidden if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

impl ToolExecution {
    /// Sets whether a call may become a task.
    pub fn new(support: TaskSupport) -> Self {
        Self {
            task_support: Some(support),
        }
    }
}

open_words! {
    /// Whether a call may become a task of 2025-11-25. An unknown value is kept unchanged, and such a
    /// tool is called without a task.
    #[derive(Default)]
    TaskSupport {
        /// A call must not become a task.
        #[default]
        Forbidden = "forbidden",
        /// A call may become a task.
        Optional = "optional",
        /// A call must become a task.
        Required = "required",
    }
}

/// The answer to `tools/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools of this page.
    pub tools: Vec<Tool>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How many milliseconds the page is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached page may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListToolsResult {
    /// Creates a list with a single page.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }
}

setters! {
    impl ListToolsResult {
        fn with_next_cursor(next_cursor: impl Into<Cursor>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}

cacheable!(ListToolsResult);
