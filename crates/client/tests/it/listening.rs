//! One stream of changes, whatever the server's revision.

use std::future::IntoFuture;

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError, Change, ChangeStream, Connection, Listen, Missed, protocol::Revision,
};

use crate::script::{Server, plain};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Capabilities with everything that can be subscribed to.
fn listening() -> Value {
    json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "logging": {},
    })
}

async fn meet(revision: Revision, capabilities: Value) -> (Connection, Server) {
    let (mut server, end) = Server::new();
    let (connection, _) = tokio::join!(
        plain().connect(end).into_future(),
        server.open_with(revision, capabilities)
    );
    (connection.unwrap(), server)
}

fn changed(list: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")})
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// The same notification, with the id of its subscription.
fn on(id: &Value, mut notification: Value) -> Value {
    notification["params"]["_meta"][SUBSCRIPTION] = id.clone();
    notification
}

fn acknowledged(id: &Value, filter: Value) -> Value {
    let mut notification =
        json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"});
    notification["params"]["notifications"] = filter;
    on(id, notification)
}

/// Receives the next `subscriptions/listen`, acknowledges all of it and returns its id.
async fn accept(server: &mut Server) -> Value {
    let asked = server
        .expect(json!({"method": "subscriptions/listen"}))
        .await;
    let filter = asked["params"]["notifications"].clone();
    server.say(acknowledged(&asked["id"], filter)).await;
    asked["id"].clone()
}

async fn change(changes: &mut ChangeStream) -> Change {
    changes.next().await.expect("it goes on").expect("a change")
}

async fn updated_uri(changes: &mut ChangeStream) -> String {
    match change(changes).await {
        Change::ResourceUpdated { uri, .. } => uri.to_string(),
        other => panic!("{other:?}"),
    }
}

// subscriptions: the filter is the request, and the acknowledgement says what the server will report.
#[tokio::test(start_paused = true)]
async fn a_modern_server_is_asked_once_and_tells() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let wish = Listen::new().tools().resource("a:b");
    let (changes, id) = tokio::join!(connection.listen(wish.clone()), async {
        let asked = server
            .expect(
                json!({"method": "subscriptions/listen", "params": {"notifications":
                {"toolsListChanged": true, "resourceSubscriptions": ["a:b"]}}}),
            )
            .await;
        let id = asked["id"].clone();
        server
            .say(acknowledged(&id, asked["params"]["notifications"].clone()))
            .await;
        server.say(on(&id, updated("a:b/1"))).await;
        id
    });
    let mut changes = changes.unwrap();
    assert_eq!(changes.acknowledged(), *wish.filter());
    assert!(changes.refused().is_empty());
    assert_eq!(updated_uri(&mut changes).await, "a:b/1");
    server.say(on(&id, changed("tools"))).await;
    assert!(matches!(change(&mut changes).await, Change::ToolsChanged));
    let other = json!({"jsonrpc": "2.0", "method": "acme/said", "params": {"n": 1}});
    server.say(on(&id, other)).await;
    assert!(
        matches!(change(&mut changes).await, Change::Other { method, .. } if &*method == "acme/said")
    );
    drop(changes);
    // subscriptions: on stdio a client ends a subscription with a cancellation.
    server
        .expect(json!({"method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
}

// rule: U3
// subscriptions: on stdio, where all messages share a channel, the id says which subscription a
// notification belongs to.
#[tokio::test(start_paused = true)]
async fn subscriptions_on_one_channel_are_told_apart() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (first, first_id) = tokio::join!(
        connection.listen(Listen::new().resource("a:b")),
        accept(&mut server)
    );
    let (second, second_id) = tokio::join!(
        connection.listen(Listen::new().resource("a:b")),
        accept(&mut server)
    );
    let (mut first, mut second) = (first.unwrap(), second.unwrap());
    assert_ne!(first_id, second_id);
    server.say(on(&second_id, updated("a:b/2"))).await;
    server.say(on(&first_id, updated("a:b/1"))).await;
    assert_eq!(updated_uri(&mut first).await, "a:b/1");
    assert_eq!(updated_uri(&mut second).await, "a:b/2");
    drop(first);
    server
        .expect(json!({"method": "notifications/cancelled", "params": {"requestId": first_id}}))
        .await;
    server.say(on(&second_id, changed("tools"))).await;
    assert!(matches!(change(&mut second).await, Change::ToolsChanged));
}

// rule: U3
#[tokio::test(start_paused = true)]
async fn what_is_not_acknowledged_is_refused_and_nothing_at_all_is_an_error() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (changes, ()) = tokio::join!(
        connection.listen(Listen::lists().resource("a:b").resource("a:c")),
        async {
            let asked = server.hear().await.unwrap();
            let filter = json!({"promptsListChanged": true, "resourceSubscriptions": ["a:c"]});
            server.say(acknowledged(&asked["id"], filter)).await;
        }
    );
    let changes = changes.unwrap();
    let refused = Listen::new().tools().resources().resource("a:b");
    assert_eq!(changes.refused(), *refused.filter());
    let (nothing, ()) = tokio::join!(connection.listen(Listen::new().tools()), async {
        let asked = server.hear().await.unwrap();
        server.say(acknowledged(&asked["id"], json!({}))).await;
    });
    assert_eq!(
        nothing.unwrap_err().to_string(),
        "server `script` does not offer `subscriptions/listen`: it reports none of the requested \
         changes"
    );
}

// rule: S5
// subscriptions: a subscription that ended is opened again; the server keeps no state in between.
#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_opened_again_with_a_report() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (changes, id) = tokio::join!(connection.listen(Listen::lists()), accept(&mut server));
    let mut changes = changes.unwrap();
    // Ended regularly, by the result.
    let result = json!({"resultType": "complete", "_meta": {SUBSCRIPTION: id}});
    server
        .say(json!({"jsonrpc": "2.0", "id": id, "result": result}))
        .await;
    let second = accept(&mut server).await;
    assert_ne!(second, id);
    assert!(matches!(
        change(&mut changes).await,
        Change::Missed(Missed::Reopened)
    ));
    // cancellation: on stdio a server may also end it with a cancellation.
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": second}});
    server.say(cancelled).await;
    let third = loop {
        // The client may also cancel the request that the server has ended.
        let heard = server.hear().await.unwrap();
        if heard["method"] == "subscriptions/listen" {
            break heard;
        }
    };
    let filter = third["params"]["notifications"].clone();
    server.say(acknowledged(&third["id"], filter)).await;
    assert!(matches!(
        change(&mut changes).await,
        Change::Missed(Missed::Reopened)
    ));
    // A late notification for an old subscription is not for this one.
    server.say(on(&id, changed("tools"))).await;
    server.say(on(&third["id"], changed("prompts"))).await;
    assert!(matches!(change(&mut changes).await, Change::PromptsChanged));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_subscription_at_once_is_given_up() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (changes, id) = tokio::join!(connection.listen(Listen::lists()), accept(&mut server));
    let mut changes = changes.unwrap();
    let mut ends = 0;
    let end = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {SUBSCRIPTION: id}}});
    server.say(end(&id)).await;
    let answers = async {
        loop {
            let id = accept(&mut server).await;
            server.say(end(&id)).await;
            ends += 1;
        }
    };
    let last = async {
        loop {
            match changes.next().await {
                Some(Ok(Change::Missed(Missed::Reopened))) => {}
                other => break other,
            }
        }
    };
    let last = tokio::select! {
        () = answers => unreachable!(),
        last = last => last,
    };
    assert!(
        matches!(last, Some(Err(CallError::Lost { .. }))),
        "{last:?}"
    );
    assert!((5..20).contains(&ends), "{ends}");
    assert!(changes.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_acknowledges_is_not_waited_for() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (changes, ()) = tokio::join!(connection.listen(Listen::lists()), async {
        server
            .expect(json!({"method": "subscriptions/listen"}))
            .await;
        server
            .expect(json!({"method": "notifications/cancelled"}))
            .await;
    });
    assert!(matches!(changes, Err(CallError::Deadline { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_to_the_caller() {
    let (connection, mut server) = meet(Revision::LATEST, listening()).await;
    let (changes, ()) = tokio::join!(connection.listen(Listen::lists()), async {
        server.hear().await;
        let error = json!({"code": -32601, "message": "no"});
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
    });
    assert!(matches!(changes, Err(CallError::Rejected { .. })));
    let nothing = connection.listen(Listen::new()).await;
    assert!(matches!(nothing, Err(CallError::Unwritable { .. })));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_connection_is_the_last_item() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(revision, listening()).await;
        let (changes, ()) = tokio::join!(connection.listen(Listen::lists()), async {
            if revision.is_modern() {
                accept(&mut server).await;
            }
        });
        let mut changes = changes.unwrap();
        drop(server);
        assert!(matches!(
            changes.next().await,
            Some(Err(CallError::Closed { .. }))
        ));
        assert!(changes.next().await.is_none());
        let again = connection.listen(Listen::lists()).await;
        let over = match again {
            Err(error) => error,
            Ok(mut changes) => changes.next().await.unwrap().unwrap_err(),
        };
        assert!(matches!(over, CallError::Closed { .. }), "{over}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_tells_by_itself_and_is_asked_for_resources_once() {
    for revision in Revision::ALL.iter().copied().filter(|it| !it.is_modern()) {
        let (connection, mut server) = meet(revision, listening()).await;
        let wish = Listen::new().tools().resource("a:b");
        let (changes, ()) = tokio::join!(connection.listen(wish), async {
            server
                .expect(json!({"method": "resources/subscribe", "params": {"uri": "a:b"}}))
                .await;
            server.answer(json!({})).await;
        });
        let mut first = changes.unwrap();
        // The resource is already subscribed: nothing is sent.
        let mut second = connection
            .listen(Listen::new().resource("a:b").resources())
            .await
            .unwrap();
        server.say(updated("a:b")).await;
        server.say(changed("tools")).await;
        server.say(changed("prompts")).await;
        server.say(changed("resources")).await;
        assert_eq!(updated_uri(&mut first).await, "a:b");
        assert!(matches!(change(&mut first).await, Change::ToolsChanged));
        assert_eq!(updated_uri(&mut second).await, "a:b");
        assert!(matches!(
            change(&mut second).await,
            Change::ResourcesChanged
        ));
        drop(first);
        tokio::task::yield_now().await;
        server.say(updated("a:b/part")).await;
        assert_eq!(updated_uri(&mut second).await, "a:b/part");
        drop(second);
        server
            .expect(json!({"method": "resources/unsubscribe", "params": {"uri": "a:b"}}))
            .await;
        server.answer(json!({})).await;
        // It is subscribed again when it is wanted again.
        let (third, ()) = tokio::join!(connection.listen(Listen::new().resource("a:b")), async {
            server
                .expect(json!({"method": "resources/subscribe"}))
                .await;
            server.answer(json!({})).await;
        });
        drop(third.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_asked_for_what_it_declares_and_refuses_what_it_must() {
    let revision = Revision::V2025_06_18;
    let (connection, _server) = meet(revision, json!({"tools": {}})).await;
    let nothing = connection.listen(Listen::lists().resource("a:b")).await;
    assert!(matches!(nothing, Err(CallError::NotOffered { .. })));

    let (connection, mut server) = meet(revision, listening()).await;
    let wish = Listen::new().prompts().resource("a:b").resource("a:c");
    let refuse = async |server: &mut Server, refused: &str| {
        let asked = server
            .expect(json!({"method": "resources/subscribe"}))
            .await;
        let mut answer = json!({"jsonrpc": "2.0", "id": asked["id"]});
        if asked["params"]["uri"] == refused {
            answer["error"] = json!({"code": -32002, "message": "not found"});
        } else {
            answer["result"] = json!({});
        }
        server.say(answer).await;
    };
    let (changes, ()) = tokio::join!(connection.listen(wish), async {
        refuse(&mut server, "a:b").await;
        refuse(&mut server, "a:b").await;
    });
    let changes = changes.unwrap();
    assert_eq!(changes.refused(), *Listen::new().resource("a:b").filter());
    let (refused, ()) = tokio::join!(
        connection.listen(Listen::new().resource("a:b")),
        refuse(&mut server, "a:b")
    );
    assert!(refused.unwrap_err().rejection().is_some());
}

#[tokio::test(start_paused = true)]
async fn giving_up_before_it_has_begun_is_told() {
    let (connection, mut server) = meet(Revision::V2025_03_26, listening()).await;
    let listen = connection.listen(Listen::new().resource("a:b"));
    tokio::select! {
        biased;
        _ = listen => panic!("nobody answers"),
        _ = server.expect(json!({"method": "resources/subscribe"})) => {}
    }
    server.answer(json!({})).await;
    server
        .expect(json!({"method": "resources/unsubscribe"}))
        .await;
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn an_odd_acknowledgement_does_not_lose_the_subscription() {
    let wish = Listen::new().tools().resource("a:b");
    for (filter, granted) in [
        (
            json!({"toolsListChanged": "yes", "resourceSubscriptions": ["a:b"]}),
            2,
        ),
        (
            json!({"toolsListChanged": true, "resourceSubscriptions": ["a:b", 7]}),
            2,
        ),
        (json!({"resourceSubscriptions": ["a:b", 7]}), 1),
        (json!(null), 2),
        (json!([]), 2),
    ] {
        for id_is_text in [false, true] {
            let (connection, mut server) = meet(Revision::LATEST, listening()).await;
            let (changes, ()) = tokio::join!(connection.listen(wish.clone()), async {
                let asked = server
                    .expect(json!({"method": "subscriptions/listen"}))
                    .await;
                let id = if id_is_text {
                    json!(asked["id"].to_string())
                } else {
                    asked["id"].clone()
                };
                server.say(acknowledged(&id, filter.clone())).await;
                server.say(on(&id, updated("a:b"))).await;
            });
            let mut changes = changes.unwrap_or_else(|error| panic!("{filter}: {error}"));
            let heard = changes.acknowledged();
            let count = usize::from(heard.wants_tools()) + heard.resources().len();
            assert_eq!(count, granted, "{filter}");
            assert_eq!(updated_uri(&mut changes).await, "a:b", "{filter}");
        }
    }
}
