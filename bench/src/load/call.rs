//! The calls: the bytes of the request, and whether an answer is right.

use serde_json::{Value, json};

use crate::Result;

/// Every id has nine digits, so that it can be replaced in place.
pub(crate) const FIRST_ID: u64 = 100_000_000;

const BEFORE_ID: &str = r#"{"jsonrpc":"2.0","id":"#;
const ID_DIGITS: usize = 9;

/// The words of texts.
const WORDS: &str = "the quick brown fox jumps over the lazy dog and runs away ";

/// Larger texts have a line break every 80 characters, like prose and code; JSON has to escape it.
const LINE: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// `echo` with a text of this many bytes.
    Echo(usize),
    /// `add`, whose structured result has a schema.
    Add,
    /// `tools/list`.
    List,
}

/// How a server is addressed: third-party gateways use other names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Front {
    /// The path of the endpoint.
    pub(crate) path: &'static str,
    /// The prefix of tool names.
    pub(crate) prefix: &'static str,
}

impl Front {
    pub(crate) const USUAL: Self = Self {
        path: "/mcp",
        prefix: "",
    };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) era: Era,
    pub(crate) operation: Operation,
    pub(crate) front: Front,
}

impl Call {
    pub(crate) const fn modern(operation: Operation) -> Self {
        Self::new(Era::Modern, operation)
    }

    pub(crate) const fn legacy(operation: Operation) -> Self {
        Self::new(Era::Legacy, operation)
    }

    pub(crate) const fn new(era: Era, operation: Operation) -> Self {
        Self {
            era,
            operation,
            front: Front::USUAL,
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self.operation {
            Operation::List => "tools/list",
            Operation::Echo(_) | Operation::Add => "tools/call",
        }
    }

    pub(crate) fn tool(self) -> Option<String> {
        let name = match self.operation {
            Operation::Echo(_) => "echo",
            Operation::Add => "add",
            Operation::List => return None,
        };
        Some(format!("{}{name}", self.front.prefix))
    }

    /// The request with the first id.
    pub(crate) fn message(self) -> Vec<u8> {
        let mut params = match self.operation {
            Operation::Echo(bytes) => json!({"arguments": {"text": text(bytes)}}),
            Operation::Add => json!({"arguments": {"a": 20, "b": 22}}),
            Operation::List => json!({}),
        };
        if let Some(tool) = self.tool() {
            params["name"] = tool.into();
        }
        if self.era == Era::Modern {
            params["_meta"] = meta();
        }
        request(self.method(), FIRST_ID, &params)
    }

    /// Checks that an answer is right.
    pub(crate) fn check(self, answer: &Value, id: u64) -> Result<()> {
        let result = &answer["result"];
        let right = match self.operation {
            Operation::Echo(bytes) => {
                let said = result["content"][0]["text"].as_str();
                said.is_some_and(|it| it.len() == bytes)
            }
            Operation::Add => result["structuredContent"]["sum"] == 42,
            Operation::List => result["tools"].as_array().is_some_and(|it| it.len() >= 102),
        };
        if right && answer["id"] == id && result["isError"] != true {
            return Ok(());
        }
        let mut shown = answer.to_string();
        shown.truncate(shown.floor_char_boundary(300));
        Err(format!("a wrong answer to {id}: {shown}").into())
    }
}

/// A request with its id at the position that [`number`] expects.
pub(crate) fn request(method: &str, id: u64, params: &Value) -> Vec<u8> {
    format!("{BEFORE_ID}{id},\"method\":\"{method}\",\"params\":{params}}}").into_bytes()
}

/// Replaces the id of the message at the start of `message`.
pub(crate) fn number(message: &mut [u8], id: u64) {
    let start = BEFORE_ID.len();
    let digits = id.to_string();
    debug_assert_eq!(
        digits.len(),
        ID_DIGITS,
        "ids are counted from the first one"
    );
    message[start..start + ID_DIGITS].copy_from_slice(digits.as_bytes());
}

pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0.1.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub(crate) fn initialize() -> Vec<u8> {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0.1.0"},
    });
    request("initialize", FIRST_ID, &params)
}

pub(crate) const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn text(bytes: usize) -> String {
    let words = WORDS.chars().cycle().take(bytes).enumerate();
    let is_break = |at| bytes > LINE * 10 && at % LINE == LINE - 1;
    words
        .map(|(at, letter)| if is_break(at) { '\n' } else { letter })
        .collect()
}

/// The response in a body of JSON or of events.
pub(crate) fn parse(body: &[u8]) -> Result<Value> {
    if body.trim_ascii_start().starts_with(b"{") {
        return Ok(serde_json::from_slice(body)?);
    }
    let events = std::str::from_utf8(body)?
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    events
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .find(|message| message.get("id").is_some() && message.get("method").is_none())
        .ok_or_else(|| "there is no response in the body".into())
}
