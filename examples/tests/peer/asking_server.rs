//! A server of 2025-06-18 in plain JSON that asks its client something: each tool is named after
//! what it asks for. It replaces third-party servers in the tests of client examples.

use std::io::{self, BufRead as _, Lines, StdinLock, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut lines = io::stdin().lock().lines();
    while let Some(message) = next(&mut lines)? {
        // Notifications have no id, and nothing here depends on them.
        if message.get("id").is_some() {
            let answer = answer(&message, &mut lines)?;
            send(&merged(&message["id"], answer))?;
        }
    }
    Ok(())
}

/// The result or the error of a request.
fn answer(message: &Value, lines: &mut Lines<StdinLock<'static>>) -> io::Result<Value> {
    Ok(match message["method"].as_str() {
        Some("initialize") => json!({ "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "asking", "version": "1.0.0" },
        } }),
        Some("tools/call") => {
            let tool = message["params"]["name"].as_str().unwrap_or_default();
            let answer = ask(tool, lines)?;
            json!({ "result": { "content": [{ "type": "text", "text": answer.to_string() }] } })
        }
        _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
    })
}

/// Asks the client, and waits for its answer.
fn ask(tool: &str, lines: &mut Lines<StdinLock<'static>>) -> io::Result<Value> {
    let form = |name: &str| {
        json!({
            "message": "Who are you?",
            "requestedSchema": { "type": "object", "properties": { name: { "type": "string" } } },
        })
    };
    let (method, params) = match tool {
        "form" => ("elicitation/create", form("name")),
        "strange_form" => ("elicitation/create", form("password")),
        "sample" => {
            let text = json!({ "type": "text", "text": "hello" });
            let messages = json!([{ "role": "user", "content": text }]);
            (
                "sampling/createMessage",
                json!({ "messages": messages, "maxTokens": 5 }),
            )
        }
        _ => ("roots/list", json!({})),
    };
    send(&json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }))?;
    while let Some(mut message) = next(lines)? {
        if message["id"] == "ask" {
            return Ok(message["result"].take());
        }
    }
    Ok(Value::Null)
}

fn merged(id: &Value, mut answer: Value) -> Value {
    answer["jsonrpc"] = json!("2.0");
    answer["id"] = id.clone();
    answer
}

fn next(lines: &mut Lines<StdinLock<'static>>) -> io::Result<Option<Value>> {
    lines
        .next()
        .transpose()?
        .map(|line| Ok(serde_json::from_str(&line)?))
        .transpose()
}

fn send(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
