//! Compares the server's messages with the specification's JSON Schemas.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use crate::facts::{Schema, Table};

/// Panics if a message of the server does not match the schema of the revision. `method` is that of
/// the request to which a response belongs, or empty if it belongs to no request.
pub(crate) fn judge(revision: Revision, method: &str, message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    if message.get("method").is_some() {
        assert!(
            message.get("id").is_none(),
            "the server asked something: {message}"
        );
        return check(revision, "ServerNotification", message);
    }
    let newer_names = revision >= Revision::V2025_11_25;
    if message.get("error").is_some() {
        // Before 2025-11-25 the schema has no form for an answer without an id, so that of JSON-RPC
        // is used.
        if newer_names || !message["id"].is_null() {
            let name = if newer_names {
                "JSONRPCErrorResponse"
            } else {
                "JSONRPCError"
            };
            check(revision, name, message);
        }
        return;
    }
    let name = if newer_names {
        "JSONRPCResultResponse"
    } else {
        "JSONRPCResponse"
    };
    check(revision, name, message);
    check(revision, result_of(method), &message["result"]);
}

/// The name of a method's result in the schema.
fn result_of(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
            "EmptyResult"
        }
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "server/discover" => "DiscoverResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        other => panic!("a result came without a request: method `{other}`"),
    }
}

fn check(revision: Revision, name: &'static str, value: &Value) {
    let faults: Vec<String> = validator(revision, name)
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(
        faults.is_empty(),
        "{revision}: no {name}: {value}\n{}",
        faults.join("\n")
    );
}

type Validators = HashMap<(Revision, &'static str), Arc<Validator>>;

fn validator(revision: Revision, name: &'static str) -> Arc<Validator> {
    static CACHE: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache
        .entry((revision, name))
        .or_insert_with(|| compile(revision, name))
        .clone()
}

fn compile(revision: Revision, name: &str) -> Arc<Validator> {
    let schema = Schema::of(&Table::read(), revision.as_str());
    assert!(schema.has(name), "{revision} has no {name}");
    let mut document = schema.document;
    document["$ref"] = json!(format!("#/$defs/{name}"));
    Arc::new(jsonschema::validator_for(&document).expect("the specification's schema is one"))
}

#[test]
fn the_judge_knows_good_from_bad() {
    let good = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
    judge(Revision::V2025_06_18, "tools/list", &good);
    let refused = std::panic::catch_unwind(|| judge(Revision::LATEST, "tools/list", &good));
    assert!(
        refused.is_err(),
        "2026-07-28 wants `resultType`, `ttlMs` and `cacheScope`"
    );
}
