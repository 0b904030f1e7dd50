//! Writes a list of tools in the format of an API.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};
use turnbuckle_protocol::{JsonObject, Meta, Tool, ToolUseContent};

use super::Format;
use crate::name::ToolNames;
use crate::schema::{Dialect, Undo, narrow};

/// The key in `_meta` of a tool call for the text of arguments that are not a JSON object.
const UNREADABLE: &str = "turnbuckle/unreadableArguments";

/// Tools written for an API, with the data for converting its tool calls back.
#[derive(Clone, Debug)]
pub struct ToolList {
    json: Vec<Value>,
    names: ToolNames,
    undo: BTreeMap<String, Undo>,
    rewrites: Vec<Rewrite>,
}

/// A part of a tool that an API does not support and that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewrite {
    /// The host's name of the tool.
    pub tool: String,
    /// The position in its schema as a JSON pointer; empty for the tool or the root.
    pub at: String,
    /// The change.
    pub what: String,
    /// Whether the whole tool was left out, so that the model cannot call it.
    pub is_left_out: bool,
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "tool `{}`: {}", self.tool, self.what),
            at => write!(f, "tool `{}` at `{at}`: {}", self.tool, self.what),
        }
    }
}

impl ToolList {
    pub(super) fn new(format: Format, tools: &[Tool]) -> Self {
        let dialect = format.dialect();
        let mut list = Self {
            json: Vec::with_capacity(tools.len()),
            names: ToolNames::default(),
            undo: BTreeMap::new(),
            rewrites: Vec::new(),
        };
        let limit = dialect.max_tools.unwrap_or(usize::MAX);
        for tool in tools.iter().take(limit) {
            list.add(format, dialect, tool);
        }
        for tool in tools.iter().skip(limit) {
            list.rewrites.push(Rewrite {
                tool: tool.name.clone(),
                at: String::new(),
                what: format!("left out; the API accepts {limit} tools"),
                is_left_out: true,
            });
        }
        list
    }

    fn add(&mut self, format: Format, dialect: &'static Dialect, tool: &Tool) {
        let name = self.names.add(&tool.name, &dialect.tool_names);
        if name != tool.name {
            self.note(tool, "", format!("renamed to `{name}` for the model"));
        }
        let narrowed = narrow(&tool.input_schema, dialect);
        for (at, what) in narrowed.changes {
            self.note(tool, &at, what);
        }
        if let Some(undo) = narrowed.undo.some() {
            self.undo.insert(tool.name.clone(), undo);
        }
        let description = self.description(dialect, tool);
        let written = entry(format, &name, description.as_deref(), narrowed.schema);
        self.json.push(written);
    }

    fn description(&mut self, dialect: &Dialect, tool: &Tool) -> Option<String> {
        let description = tool.description.as_ref().or(tool.title.as_ref())?;
        let Some(limit) = dialect.max_description else {
            return Some(description.clone());
        };
        if description.chars().count() <= limit {
            return Some(description.clone());
        }
        let what = format!("description cut off at {limit} characters");
        self.note(tool, "", what);
        let short: String = description.chars().take(limit - 1).collect();
        Some(format!("{short}…"))
    }

    fn note(&mut self, tool: &Tool, at: &str, what: impl Into<String>) {
        self.rewrites.push(Rewrite {
            tool: tool.name.clone(),
            at: at.to_owned(),
            what: what.into(),
            is_left_out: false,
        });
    }

    /// The tools in the form for a request, one JSON value each.
    pub fn json(&self) -> &[Value] {
        &self.json
    }

    /// The parts that the API does not support, and that were rewritten or left out.
    pub fn rewrites(&self) -> &[Rewrite] {
        &self.rewrites
    }

    /// The mapping between the model's and the host's names of the tools.
    pub fn names(&self) -> &ToolNames {
        &self.names
    }

    /// Converts a call that the model wrote. It gets the host's name of the tool, and arguments
    /// that match the server's original schema.
    pub fn call(&self, id: &str, name: &str, arguments: Value) -> ToolUseContent {
        let name = self.names.host_name(name);
        let mut arguments = arguments;
        if let Some(undo) = self.undo.get(name) {
            undo.back(&mut arguments);
        }
        match arguments {
            Value::Object(arguments) => ToolUseContent::new(id, name, arguments),
            other => unreadable(id, name, &other.to_string()),
        }
    }

    /// The same for an API that sends arguments as text.
    pub(crate) fn call_of_text(&self, id: &str, name: &str, arguments: &str) -> ToolUseContent {
        // Models write an empty text if there are no arguments.
        if arguments.trim().is_empty() {
            return self.call(id, name, Value::Object(Map::new()));
        }
        match serde_json::from_str(arguments) {
            Ok(arguments @ Value::Object(_)) => self.call(id, name, arguments),
            _ => unreadable(id, self.names.host_name(name), arguments),
        }
    }

    /// The arguments of a call in the form in which the model wrote them.
    pub(super) fn written(&self, call: &ToolUseContent) -> Value {
        let mut arguments = Value::Object(call.input.clone());
        if let Some(undo) = self.undo.get(&call.name) {
            undo.forth(&mut arguments);
        }
        arguments
    }
}

fn entry(format: Format, name: &str, description: Option<&str>, schema: JsonObject) -> Value {
    let has_properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let mut tool = json!({"name": name});
    if let Some(description) = description {
        tool["description"] = description.into();
    }
    match format {
        Format::OpenAiChat => {
            tool["parameters"] = Value::Object(schema);
            json!({"type": "function", "function": tool})
        }
        Format::OpenAiResponses => {
            tool["type"] = "function".into();
            tool["parameters"] = Value::Object(schema);
            // Without this member the API applies strict rules, which the schemas of most servers
            // do not follow.
            tool["strict"] = false.into();
            tool
        }
        Format::Anthropic => {
            tool["input_schema"] = Value::Object(schema);
            tool
        }
        Format::Gemini => {
            // The API refuses an object without properties, but accepts a function without parameters.
            if has_properties {
                tool["parameters"] = Value::Object(schema);
            }
            tool
        }
    }
}

fn unreadable(id: &str, name: &str, text: &str) -> ToolUseContent {
    let meta = Meta::new().with(UNREADABLE, text);
    ToolUseContent::new(id, name, Map::new()).with_meta(meta)
}

/// The text of the arguments, if the model wrote arguments that are not a JSON object.
pub(crate) fn unreadable_arguments(call: &ToolUseContent) -> Option<&str> {
    call.meta.as_ref()?.value(UNREADABLE)?.as_str()
}

/// Whether the model wrote arguments that are not a JSON object.
pub(crate) fn is_unreadable(call: &ToolUseContent) -> bool {
    unreadable_arguments(call).is_some()
}
