//! One odd entry does not make a whole answer unreadable: the rest is given, and the caller is warned
//! of it.

use serde_json::{Value, json};
use turnbuckle_client::{CallError, Connection, protocol::Revision};

use crate::script::{Server, complete, meet, plain};

/// Plays one request with its answer, and gives what the client made of it.
async fn asked<T>(
    server: &mut Server,
    method: &str,
    answer: Value,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let serve = async {
        server.expect(json!({ "method": method })).await;
        server.answer(answer).await;
    };
    let (result, ()) = tokio::join!(call, serve);
    result
}

fn warned(connection: &Connection) -> Vec<String> {
    let warnings = connection.warnings().into_iter();
    warnings.map(|warning| warning.pointer).collect()
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn odd_entries_are_left_out_and_warned_of_at_every_revision() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let answer = |result| complete(result, revision);
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let tools = json!({ "tools": [
            good, { "name": "bare" }, { "title": "nameless" }, { "name": "odd", "inputSchema": 7 },
            {
                "name": "sometimes", "inputSchema": { "type": "object" },
                "execution": { "taskSupport": "sometimes" },
            },
        ] });
        let listed = asked(&mut server, "tools/list", answer(tools), async {
            connection.tools().await
        });
        let names: Vec<_> = listed
            .await
            .unwrap()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(names, ["good", "bare", "sometimes"], "{revision}");
        assert_eq!(
            warned(&connection),
            ["/tools/1", "/tools/2", "/tools/2", "/tools/3"]
        );

        let resources = json!({ "resources": [
            { "uri": "a:b", "name": "b", "size": 3.0 },
            { "uri": "a:c", "name": "c", "size": 3.5 },
            { "uri": "a:d", "name": "d", "annotations": { "audience": ["human"] } },
        ] });
        let listed = asked(&mut server, "resources/list", answer(resources), async {
            connection.resources().await
        });
        let listed = listed.await.unwrap();
        let sizes: Vec<_> = listed.iter().map(|resource| resource.size).collect();
        assert_eq!(sizes, [Some(3), None, None], "{revision}");
        assert_eq!(warned(&connection), ["/resources/1/size"]);

        let contents = json!({ "contents": [{ "uri": "a:b" }, { "uri": "a:b", "text": "t" }] });
        let read = asked(&mut server, "resources/read", answer(contents), async {
            connection.read("a:b").await
        });
        assert_eq!(read.await.unwrap().contents.len(), 1, "{revision}");
        assert_eq!(warned(&connection), ["/contents/0"]);

        let text = json!({ "type": "text", "text": "t" });
        let messages = json!({ "messages": [
            { "role": "system", "content": text }, { "role": "user", "content": {} },
        ] });
        let prompt = asked(&mut server, "prompts/get", answer(messages), async {
            connection.get("p", ()).await
        });
        let prompt = prompt.await.unwrap();
        assert_eq!(prompt.messages.len(), 1, "{revision}");
        assert_eq!(prompt.messages[0].role.as_str(), "system");
        assert_eq!(warned(&connection), ["/messages/1"]);

        let result = json!({ "content": [text, { "type": "text" }], "isError": true });
        let called = asked(&mut server, "tools/call", answer(result), async {
            connection.call("good", ()).await
        });
        let called = called.await.unwrap();
        assert_eq!(
            (called.content.len(), called.is_error),
            (1, Some(true)),
            "{revision}"
        );
        assert_eq!(warned(&connection), ["/content/1"]);
        assert!(connection.warnings().is_empty(), "each is given once");
    }
}

/// What would mean something else without the odd part is an error as before.
#[tokio::test(start_paused = true)]
async fn an_answer_whose_meaning_is_unclear_is_an_error() {
    let (connection, mut server) = meet(&plain(), Revision::V2026_07_28).await;
    for answer in [
        json!({ "resultType": "unheard_of", "content": [] }),
        json!({ "resultType": "complete", "content": [], "isError": "no" }),
        json!({ "resultType": "input_required", "inputRequests": { "a": { "method": "x" } } }),
        json!([]),
    ] {
        let called = asked(&mut server, "tools/call", answer.clone(), async {
            connection.call("t", ()).await
        });
        let error = called.await.unwrap_err();
        assert!(
            matches!(error, CallError::Malformed { .. }),
            "{answer}: {error}"
        );
        assert!(connection.warnings().is_empty());
    }
}

/// What the schemas leave open is kept: a client in the middle passes on what it does not know.
// rule: J16
#[tokio::test(start_paused = true)]
async fn members_without_a_name_survive() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let result = json!({
            "content": [{ "type": "text", "text": "t", "lang": "en" }], "cost": { "tokens": 3 },
        });
        let called = asked(
            &mut server,
            "tools/call",
            complete(result.clone(), revision),
            async { connection.call("t", ()).await },
        );
        let called = called.await.unwrap();
        assert_eq!(json!(called.into_result()), result, "{revision}");
        let contents = json!({ "contents": [{
            "uri": "a:b", "name": "b", "title": "B", "annotations": { "priority": 1 }, "text": "t",
        }] });
        let read = asked(
            &mut server,
            "resources/read",
            complete(contents.clone(), revision),
            async { connection.read("a:b").await },
        );
        let read = json!(read.await.unwrap());
        assert_eq!(read["contents"], contents["contents"], "{revision}");
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn an_odd_handshake_opens_a_connection_all_the_same() {
    for &revision in Revision::LEGACY {
        let (mut server, end) = Server::new();
        let client = plain().only(revision);
        let opening = async {
            server.expect(json!({ "method": "initialize" })).await;
            let result = json!({
                "protocolVersion": revision.as_str(),
                "capabilities": { "tools": { "listChanged": "yes" }, "prompts": 7 },
                "serverInfo": { "name": "odd", "version": "1", "icons": [7] },
            });
            server.answer(result).await;
            server
                .expect(json!({ "method": "notifications/initialized" }))
                .await;
        };
        let (connection, ()) = tokio::join!(client.connect(end).into_future(), opening);
        let connection = connection.unwrap();
        let server = connection.server();
        assert_eq!(server.name(), "odd", "{revision}");
        assert!(server.capabilities().is_some_and(|it| it.tools.is_some()));
        assert!(!warned(&connection).is_empty(), "{revision}");
    }
}
