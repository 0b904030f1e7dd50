//! What the server sends, held against the specification's own JSON Schema.

use std::{
    collections::HashMap,
    io::Write as _,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, Once, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

/// Set to `1` where the specification must be at hand.
const REQUIRE_ALL: &str = "TURNBUCKLE_REQUIRE_ALL";

/// Panics if a message that the server sent is not what the revision says. `method` is that of the
/// request a response belongs to, empty where there is none.
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
        // Before 2025-11-25 the schema has no form for an answer to nobody: JSON-RPC's own is used.
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

/// What the schema calls the result of a method.
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
        other => panic!("a result came that nobody asked for: method `{other}`"),
    }
}

fn check(revision: Revision, name: &'static str, value: &Value) {
    let Some(validator) = validator(revision, name) else {
        return;
    };
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(
        faults.is_empty(),
        "{revision}: no {name}: {value}\n{}",
        faults.join("\n")
    );
}

type Validators = HashMap<(Revision, &'static str), Option<Arc<Validator>>>;

fn validator(revision: Revision, name: &'static str) -> Option<Arc<Validator>> {
    static CACHE: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache
        .entry((revision, name))
        .or_insert_with(|| compile(revision, name))
        .clone()
}

fn compile(revision: Revision, name: &str) -> Option<Arc<Validator>> {
    let mut schema = schema(revision)?;
    let home = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    assert!(schema[home].get(name).is_some(), "{revision} has no {name}");
    for union in ["anyOf", "$ref"] {
        schema
            .as_object_mut()
            .expect("a schema is an object")
            .shift_remove(union);
    }
    schema["$ref"] = json!(format!("#/{home}/{name}"));
    let validator = jsonschema::validator_for(&schema).expect("the specification's schema is one");
    Some(Arc::new(validator))
}

fn schema(revision: Revision) -> Option<Value> {
    static ABSENT: Once = Once::new();
    let path: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "../../../shared/spec",
        revision.as_str(),
    ]
    .iter()
    .collect::<PathBuf>()
    .join("schema.json");
    let Ok(text) = std::fs::read(&path) else {
        let path = path.display();
        assert!(
            std::env::var_os(REQUIRE_ALL).is_none_or(|set| set != "1"),
            "{path} is missing"
        );
        // Straight to stderr, past the capture of the test harness: a skipped check is seen.
        ABSENT.call_once(|| {
            let _ = writeln!(std::io::stderr(), "skipped: no specification at {path}");
        });
        return None;
    };
    Some(serde_json::from_slice(&text).expect("the specification's schema is JSON"))
}

#[test]
fn the_judge_knows_good_from_bad() {
    if schema(Revision::LATEST).is_none() {
        return;
    }
    let good = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
    judge(Revision::V2025_06_18, "tools/list", &good);
    let refused = std::panic::catch_unwind(|| judge(Revision::LATEST, "tools/list", &good));
    assert!(
        refused.is_err(),
        "2026-07-28 wants `resultType`, `ttlMs` and `cacheScope`"
    );
}
