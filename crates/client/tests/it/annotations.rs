//! Annotations of tools, which may be false.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError,
    protocol::{ElicitResult, Revision},
};

use crate::{
    asks_in_sessions::form,
    script::{Server, meet, plain},
};

/// No annotations, a tool that claims to be harmless, and a tool that declares the opposite.
fn claims() -> [Value; 3] {
    [
        Value::Null,
        json!({
            "title": "Safe", "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false,
        }),
        json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}),
    ]
}

fn tool(claim: &Value) -> Value {
    let schema = json!({
        "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"],
    });
    let input = json!({"type": "object"});
    let mut tool = json!({"name": "add", "inputSchema": input, "outputSchema": schema});
    if !claim.is_null() {
        tool["annotations"] = claim.clone();
    }
    tool
}

/// Asks the user, in the form of the revision, and records the client's answer.
async fn ask(server: &mut Server, revision: Revision, heard: &mut Vec<Value>) {
    let mut params = form();
    if revision.is_modern() {
        params["mode"] = json!("form");
        let asks = json!({"k": {"method": "elicitation/create", "params": params}});
        let question = json!({"resultType": "input_required", "inputRequests": asks});
        server.answer(question).await;
    } else {
        let method = "elicitation/create";
        let question = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params});
        server.say(question).await;
    }
    heard.push(server.hear().await.unwrap());
}

// tools: clients MUST consider annotations untrusted. Whatever a tool claims, the user is asked the
// same, results are checked the same, no answer comes from the cache, and the same is sent.
// rule: T8
#[tokio::test(start_paused = true)]
async fn claims_of_a_tool_change_nothing_that_protects_its_caller() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let mut transcripts = Vec::new();
        for claim in claims() {
            let asked = Arc::new(AtomicUsize::new(0));
            let counter = asked.clone();
            let client = plain().on_form(move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
                async { Ok(ElicitResult::decline()) }
            });
            let (connection, mut server) = meet(&client, revision).await;
            let mut heard = Vec::new();
            let (tools, ()) = tokio::join!(async { connection.tools().await }, async {
                heard.push(server.hear().await.unwrap());
                server.answer(json!({"tools": [tool(&claim)]})).await;
            });
            assert_eq!(tools.unwrap()[0].annotations.is_some(), !claim.is_null());
            for round in 1..=2 {
                let (called, ()) =
                    tokio::join!(async { connection.call("add", ()).await }, async {
                        heard.push(server.hear().await.unwrap());
                        ask(&mut server, revision, &mut heard).await;
                        let wrong = json!({"content": [], "structuredContent": {"sum": "no"}});
                        server.answer(wrong).await;
                    });
                let error = called.unwrap_err();
                assert!(
                    matches!(error, CallError::OutputMismatch { .. }),
                    "{claim}: {error:?}"
                );
                assert_eq!(asked.load(Ordering::Relaxed), round, "{claim}");
            }
            transcripts.push(heard);
        }
        assert_eq!(transcripts[0], transcripts[1], "{revision}");
        assert_eq!(transcripts[0], transcripts[2], "{revision}");
    }
}

#[cfg(feature = "http")]
mod over_http {
    use serde_json::json;
    use turnbuckle_client::CallError;

    use super::{claims, tool};
    use crate::http_site::{modern, plain};

    // A call that may have run is not sent again on the word of its server.
    // rule: T8
    #[tokio::test]
    async fn a_call_that_broke_is_lost_whatever_its_tool_claims() {
        for claim in claims() {
            let listed = json!({"resultType": "complete", "tools": [tool(&claim)], "ttlMs": 0, "cacheScope": "private"});
            let site = modern(move |heard, answer| {
                let listed = listed.clone();
                Box::pin(async move {
                    if heard.method() == "tools/list" {
                        return answer.json(200, &heard.result(listed)).await;
                    }
                    answer.events().await;
                    answer.hang_up();
                })
            })
            .await;
            let server = plain().connect(site.url()).await.unwrap();
            server.tools().await.unwrap();
            let error = server.call("add", ()).await.unwrap_err();
            assert!(
                matches!(error, CallError::Lost { .. }),
                "{claim}: {error:?}"
            );
            assert_eq!(site.count("POST tools/call"), 1, "{claim}");
        }
    }
}
