//! Required members that are often missing or wrong, and their intended values.

use serde_json::{Value, json};

use super::{LenientReader, capabilities, name_of};
use crate::JsonObject;

impl LenientReader<'_> {
    /// Adds required members that are often left out, if their intended value is clear.
    pub(super) fn add_missing(&mut self, result: &mut JsonObject) {
        let is_absent = |value: Option<&Value>| value.is_none_or(Value::is_null);
        // Some languages write an empty object as an empty array.
        let is_empty = |value: Option<&Value>| {
            let elements = value.and_then(Value::as_array);
            elements.is_some_and(Vec::is_empty)
        };
        match self.method {
            "tools/list" => {
                let tools = result.get_mut("tools").and_then(Value::as_array_mut);
                for (index, tool) in tools.into_iter().flatten().enumerate() {
                    let came = tool.clone();
                    let Some(tool) = tool.as_object_mut() else {
                        continue;
                    };
                    let schema = tool.get("inputSchema");
                    let problem = match (is_absent(schema), is_empty(schema)) {
                        (true, _) => "`inputSchema` is missing; read as an object of any members",
                        (_, true) => "`inputSchema` is an array; read as an object of any members",
                        _ => continue,
                    };
                    tool.insert("inputSchema".into(), json!({ "type": "object" }));
                    let place = format!("/tools/{index}");
                    self.warn_of(name_of(&came), place, problem.into(), came);
                }
            }
            "tools/call" | "tasks/result" => {
                let is_result = !["task", "taskId", "inputRequests", "requestState"]
                    .iter()
                    .any(|name| result.contains_key(*name));
                if is_result && is_absent(result.get("content")) {
                    result.insert("content".into(), json!([]));
                    let problem = "`content` is missing; read as empty";
                    self.warn(String::new(), problem.into(), Value::Null);
                } else if is_result {
                    self.mend_content(result);
                }
            }
            "server/discover" => self.mend_capabilities(result),
            "initialize" => {
                self.mend_capabilities(result);
                for name in ["clientInfo", "serverInfo"] {
                    let info = result.get_mut(name).and_then(Value::as_object_mut);
                    let Some(info) = info.filter(|info| info.contains_key("name")) else {
                        continue;
                    };
                    let (read, problem) = match info.get("version") {
                        None | Some(Value::Null) => {
                            (String::new(), "`version` is missing; read as empty")
                        }
                        Some(Value::Number(number)) => {
                            (number.to_string(), "`version` is a number; read as text")
                        }
                        Some(_) => continue,
                    };
                    let came = Value::Object(info.clone());
                    info.insert("version".into(), read.into());
                    self.warn(format!("/{name}"), problem.into(), came);
                }
            }
            "completion/complete" => {
                let completion = result.get_mut("completion").and_then(Value::as_object_mut);
                if let Some(completion) = completion
                    && is_absent(completion.get("values"))
                {
                    completion.insert("values".into(), json!([]));
                    let problem = "`values` is missing; read as empty";
                    self.warn("/completion".into(), problem.into(), Value::Null);
                }
            }
            // A single block may come without its list; invalid parts of it are also left out.
            "sampling/createMessage" => {
                if let Some(content) = result.get_mut("content")
                    && content.is_object()
                {
                    *content = json!([content.take()]);
                }
            }
            _ => {}
        }
    }

    fn mend_capabilities(&mut self, message: &mut JsonObject) {
        capabilities::mend(message, |place, problem, came| {
            self.warn(place, problem.to_owned(), came);
        });
    }

    /// Replaces the content of a result that is not a list by a list with this block.
    fn mend_content(&mut self, result: &mut JsonObject) {
        let Some(content) = result.get_mut("content").filter(|it| !it.is_array()) else {
            return;
        };
        let came = content.take();
        let problem = match &came {
            Value::Object(_) => {
                *content = json!([came]);
                "`content` is not a list; read as a list of this block"
            }
            Value::String(text) => {
                *content = json!([{ "type": "text", "text": text }]);
                "`content` is a string; read as a block of text"
            }
            _ => {
                *content = json!([]);
                "`content` is not a list; left out"
            }
        };
        self.warn("/content".into(), problem.into(), came);
    }
}
