//! Makes the bytes of an answer from the bytes of a request, with structs that borrow.

use std::{borrow::Cow, io::Write, sync::LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

// A newtype, because serde does not borrow through `Option<Cow<str>>`.
#[derive(Deserialize, Serialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    a: Option<i64>,
    b: Option<i64>,
}

/// The kind of the message that was answered.
pub(crate) enum Kind {
    /// A request.
    Plain,
    /// `initialize`.
    Opening,
    /// A notification: nothing was written.
    Told,
}

const OPENING: &[u8] = br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"control","version":"0.1.0"}}"#;
const MODERN: &[u8] = br#","resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"control","version":"0.1.0"}}"#;

/// As many tools as the compared servers have, of the same size.
static TOOLS: LazyLock<String> = LazyLock::new(|| {
    let whole = json!({"type": "integer", "format": "int64"});
    let mut tools = vec![json!({
        "name": "add", "description": "Adds two integers",
        "inputSchema": {"type": "object", "properties": {"a": whole, "b": whole}, "required": ["a", "b"]},
        "outputSchema": {"type": "object", "properties": {"sum": whole}, "required": ["sum"]},
    })];
    tools.extend((0..100).map(|number| json!({
        "name": format!("dummy_{number:03}"),
        "description": format!("Dummy tool number {number:03}, which gives tools/list a realistic payload."),
        "inputSchema": {"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string", "description": "Search query"},
            "limit": {"type": "integer", "description": "Maximum number of results", "minimum": 1, "maximum": 100},
            "verbose": {"type": "boolean", "description": "Verbose output"},
        }},
    })));
    tools.push(json!({
        "name": "echo", "description": "Returns its text argument",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }));
    serde_json::Value::Array(tools).to_string()
});

/// Appends the answer to `out`.
pub(crate) fn answer(message: &[u8], out: &mut Vec<u8>) -> serde_json::Result<Kind> {
    let request: Request<'_> = serde_json::from_slice(message)?;
    let (Some(id), Some(method)) = (request.id, &request.method) else {
        return Ok(Kind::Told);
    };
    let modern = request.params.as_ref().is_some_and(|it| it.meta.is_some());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.get().as_bytes());
    let mut kind = Kind::Plain;
    match &*method.0 {
        "initialize" => {
            out.extend_from_slice(b",\"result\":");
            out.extend_from_slice(OPENING);
            kind = Kind::Opening;
        }
        "tools/list" => list(modern, out),
        "tools/call" => call(request.params.as_ref(), modern, out)?,
        _ => out.extend_from_slice(b",\"error\":{\"code\":-32601,\"message\":\"no such method\"}"),
    }
    out.push(b'}');
    Ok(kind)
}

fn list(modern: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"result\":{\"tools\":");
    out.extend_from_slice(TOOLS.as_bytes());
    if modern {
        out.extend_from_slice(b",\"ttlMs\":0,\"cacheScope\":\"private\"");
        out.extend_from_slice(MODERN);
    }
    out.push(b'}');
}

fn call(params: Option<&Params<'_>>, modern: bool, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let name = params.and_then(|it| it.name.as_ref()).map(|it| &*it.0);
    let arguments = params.and_then(|it| it.arguments.as_ref());
    out.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
    match arguments {
        Some(Arguments {
            a: Some(a),
            b: Some(b),
            ..
        }) if name == Some("add") => {
            let sum = a.wrapping_add(*b);
            write!(out, "\"{{\\\"sum\\\":{sum}}}\"}}],\"structuredContent\":{{\"sum\":{sum}}},\"isError\":false")
                .map_err(serde_json::Error::io)?;
        }
        Some(Arguments {
            text: Some(text), ..
        }) => {
            serde_json::to_writer(&mut *out, text)?;
            out.extend_from_slice(b"}],\"isError\":false");
        }
        _ => out.extend_from_slice(b"\"wrong arguments\"}],\"isError\":true"),
    }
    if modern {
        out.extend_from_slice(MODERN);
    }
    out.push(b'}');
    Ok(())
}
