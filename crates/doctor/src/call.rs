//! Calls tools that declare that they only read and that need no argument, and checks their results.

use serde_json::{Value, json};
use turnbuckle::{protocol::error::code, schema::Schema};

use super::{
    connection::{Connection, Exchange},
    finding::Finding,
    table::call,
};

/// How many tools are called: `--call` is a sample, and each call may take long.
const MAX_CALLS: usize = 20;

/// Calls the tools that can be called without harm and without arguments.
pub(crate) async fn look(connection: &mut Connection<'_>, tools: &[Value]) {
    let harmless: Vec<&Value> = tools
        .iter()
        .filter(|tool| is_harmless(tool))
        .take(MAX_CALLS)
        .collect();
    let mut called = Vec::new();
    for tool in harmless {
        let Some(name) = tool["name"].as_str() else {
            continue;
        };
        connection.report.step(format!("calling `{name}`"));
        let params = json!({ "name": name, "arguments": {} });
        let exchange = connection.ask("tools/call", params).await;
        if exchange.is_silent() {
            // The tool may take long, and the run does not wait for it.
            let params = json!({ "requestId": exchange.sent["id"] });
            if !(connection.is_modern() && connection.is_http()) {
                connection.notify("notifications/cancelled", params).await;
            }
            continue;
        }
        look_at(connection, tool, name, &exchange);
        called.push(name);
    }
    let said = match called.len() {
        0 => "no tool that only reads without arguments gave a result".to_owned(),
        _ => format!("called {}", called.join(", ")),
    };
    connection.report.ok(&call::FAILED, said);
}

fn is_harmless(tool: &Value) -> bool {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array();
    let is_free = required.is_none_or(Vec::is_empty);
    let unions = ["oneOf", "anyOf", "allOf"];
    let is_plain = unions.iter().all(|union| schema.get(union).is_none());
    tool["annotations"]["readOnlyHint"] == true
        && tool["annotations"]["destructiveHint"] != true
        && tool["execution"]["taskSupport"] != "required"
        && is_free
        && is_plain
}

fn look_at(connection: &Connection<'_>, tool: &Value, name: &str, exchange: &Exchange) {
    let found = |check, said: String| {
        connection
            .report
            .add(exchange.finding(check, said).at(format!("tool `{name}`")));
    };
    let is_asked = |heard: &Value| heard.get("id").is_some() && heard.get("method").is_some();
    if exchange.code() == Some(code::MISSING_REQUIRED_CLIENT_CAPABILITY)
        || exchange.heard.iter().any(is_asked)
    {
        // The tool asks the user a question, and there is no user here.
        return;
    }
    let Some(result) = exchange.result() else {
        found(&call::FAILED, format!("a call gets {}", exchange.came()));
        return;
    };
    if result["resultType"]
        .as_str()
        .is_some_and(|kind| kind != "complete")
    {
        return;
    }
    let blocks = result["content"].as_array();
    let is_right = |block: &Value| block["type"].is_string();
    if !blocks.is_some_and(|blocks| blocks.iter().all(is_right)) {
        found(&call::SHAPE, "a result has no list of content".to_owned());
    }
    if result["isError"] == true {
        found(&call::FAILED, "a call without arguments fails".to_owned());
        return;
    }
    let structured = result.get("structuredContent");
    let output = &tool["outputSchema"];
    match (output.is_object(), structured) {
        (true, None) => {
            let said = "a tool with an output schema gives no `structuredContent`";
            found(&call::UNSTRUCTURED, said.to_owned());
        }
        (true, Some(value)) => {
            let violations = Schema::compile(output)
                .ok()
                .and_then(|schema| Some((schema.check(value).err()?, schema)));
            if let Some((violations, schema)) = violations {
                let said = "a result does not match the output schema".to_owned();
                let finding = Finding::of(&call::OUTPUT, said).at(format!("tool `{name}`"));
                let why = schema.explain(&violations);
                connection
                    .report
                    .add(finding.seen(why).seen_all(exchange.evidence()));
            }
        }
        (false, _) => {}
    }
    if structured.is_some() && blocks.is_none_or(Vec::is_empty) {
        let said = "structured content comes without text".to_owned();
        found(&call::TEXT, said);
    }
}
