//! Results that are cached for as long as servers allow.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::{
    Cache, CallError, Connection,
    protocol::{ElicitResult, Revision},
};

use crate::script::{Server, complete, meet, plain};

fn tools(names: &[&str]) -> Value {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    json!({"resultType": "complete", "tools": tools, "ttlMs": 1000, "cacheScope": "private"})
}

/// Lists the tools with a request, which the server answers with these.
async fn asked(connection: &Connection, server: &mut Server, names: &[&str]) -> usize {
    let (listed, ()) = tokio::join!(connection.tools().into_future(), async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(tools(names)).await;
    });
    listed.unwrap().len()
}

/// Lists the tools from the cache: the server does not answer.
async fn kept(connection: &Connection) -> usize {
    connection.tools().await.unwrap().len()
}

// rule: K2, K3, K5
// caching: fresh while now < received + ttlMs, stale after that.
#[tokio::test(start_paused = true)]
async fn a_list_is_asked_for_when_its_time_is_up_or_it_must_be_fresh() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    assert_eq!(asked(&connection, &mut server, &["a"]).await, 1);
    tokio::time::advance(Duration::from_millis(999)).await;
    assert_eq!(kept(&connection).await, 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(asked(&connection, &mut server, &["a", "b"]).await, 2);
    let (listed, ()) = tokio::join!(connection.tools().fresh().into_future(), async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(tools(&["a", "b", "c"])).await;
    });
    assert_eq!(listed.unwrap().len(), 3);
    assert_eq!(kept(&connection).await, 3);
    // Another list is cached separately.
    let (prompts, ()) = tokio::join!(connection.prompts().into_future(), async {
        server.expect(json!({"method": "prompts/list"})).await;
        server
            .answer(json!({"resultType": "complete", "prompts": []}))
            .await;
    });
    prompts.unwrap();
}

// rule: K3
// caching: a notification makes the results that it names stale at once.
#[tokio::test(start_paused = true)]
async fn notifications_make_results_go() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    asked(&connection, &mut server, &["a"]).await;
    let mut news = connection.notifications();
    let changed = |list: &str| json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")});
    server.say(changed("prompts")).await;
    news.next().await.unwrap();
    assert_eq!(kept(&connection).await, 1);
    server.say(changed("tools")).await;
    news.next().await.unwrap();
    assert_eq!(asked(&connection, &mut server, &["a", "b"]).await, 2);

    let contents = json!({"resultType": "complete", "contents": [], "ttlMs": 60_000});
    for uri in ["a:b", "a:c"] {
        let (read, ()) = tokio::join!(connection.read(uri).into_future(), async {
            server
                .expect(json!({"method": "resources/read", "params": {"uri": uri}}))
                .await;
            server.answer(contents.clone()).await;
        });
        read.unwrap();
        connection.read(uri).await.unwrap();
    }
    let updated = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b/part"}});
    server.say(updated).await;
    news.next().await.unwrap();
    connection.read("a:c").await.unwrap();
    let (read, ()) = tokio::join!(connection.read("a:b").into_future(), async {
        server.expect(json!({"method": "resources/read"})).await;
        server.answer(contents.clone()).await;
    });
    read.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_change_overtook_is_not_kept() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let (listed, ()) = tokio::join!(connection.tools().into_future(), async {
        server.expect(json!({"method": "tools/list"})).await;
        let changed = "notifications/tools/list_changed";
        server
            .say(json!({"jsonrpc": "2.0", "method": changed}))
            .await;
        server.answer(tools(&["old"])).await;
    });
    listed.unwrap();
    assert_eq!(asked(&connection, &mut server, &["a", "b"]).await, 2);
}

// rule: K2
// caching: results of a retry MUST NOT be cached.
#[tokio::test(start_paused = true)]
async fn what_came_of_a_retry_is_not_kept() {
    let client = plain().on_form(|_| async { Ok(ElicitResult::decline()) });
    let (connection, mut server) = meet(&client, Revision::LATEST).await;
    for _ in 0..2 {
        let (read, ()) = tokio::join!(connection.read("a:b").into_future(), async {
            server.expect(json!({"method": "resources/read"})).await;
            let form = json!({"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}});
            let asks = json!({"k": {"method": "elicitation/create", "params": form}});
            server
                .answer(json!({"resultType": "input_required", "inputRequests": asks, "ttlMs": 9}))
                .await;
            server.expect(json!({"method": "resources/read"})).await;
            server
                .answer(json!({"resultType": "complete", "contents": [], "ttlMs": 60_000}))
                .await;
        });
        read.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_are_kept_nothing_of_unless_a_time_is_set() {
    let revision = Revision::V2025_06_18;
    let answer = async |server: &mut Server| {
        server.expect(json!({"method": "tools/list"})).await;
        server
            .answer(complete(json!({"tools": []}), revision))
            .await;
    };
    let (connection, mut server) = meet(&plain(), revision).await;
    for _ in 0..2 {
        let (listed, ()) = tokio::join!(connection.tools().into_future(), answer(&mut server));
        listed.unwrap();
    }
    let cache = Cache::new().default_ttl(Duration::from_secs(5));
    let (connection, mut server) = meet(&plain().cache(cache.clone()), revision).await;
    let (listed, ()) = tokio::join!(connection.tools().into_future(), answer(&mut server));
    listed.unwrap();
    connection.tools().await.unwrap();
    assert_eq!(cache.len(), 1);
    cache.clear();
    let (listed, ()) = tokio::join!(connection.tools().into_future(), answer(&mut server));
    listed.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_old_result_serves_when_the_server_does_not_and_was_asked_to() {
    let cache = Cache::new().stale_on_error(Duration::from_mins(1));
    let (connection, mut server) = meet(&plain().cache(cache), Revision::LATEST).await;
    asked(&connection, &mut server, &["a"]).await;
    tokio::time::advance(Duration::from_secs(10)).await;
    // A rejection is returned as an error; after an internal error the stale list is used.
    for (code, is_served) in [(-32600, false), (-32603, true)] {
        let (listed, ()) = tokio::join!(connection.tools().into_future(), async {
            server.expect(json!({"method": "tools/list"})).await;
            let error = json!({"code": code, "message": "no"});
            server
                .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
                .await;
        });
        assert_eq!(listed.is_ok(), is_served, "{code}");
    }
    drop(server);
    connection.closed().await;
    assert_eq!(kept(&connection).await, 1);
    let impatient = connection
        .tools()
        .stale_on_error(Duration::from_secs(1))
        .await;
    assert!(matches!(impatient, Err(CallError::Closed { .. })));
    tokio::time::advance(Duration::from_mins(1)).await;
    assert!(connection.tools().await.is_err());
}

// rule: K5
// caching: when a cursor becomes invalid, all pages are discarded and fetched from the beginning.
#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_not_valid_any_more_begins_the_list_anew() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let page = |name: &str, next: Option<&str>, ttl: u64| {
        let mut page = tools(&[name]);
        page["ttlMs"] = ttl.into();
        if let Some(next) = next {
            page["nextCursor"] = next.into();
        }
        page
    };
    let (listed, ()) = tokio::join!(connection.tools().into_future(), async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(page("a", Some("2"), 60_000)).await;
        server.expect(json!({"params": {"cursor": "2"}})).await;
        server.answer(page("b", None, 0)).await;
    });
    assert_eq!(listed.unwrap().len(), 2);
    let (listed, ()) = tokio::join!(connection.tools().into_future(), async {
        // The first page is cached, the second is requested.
        server.expect(json!({"params": {"cursor": "2"}})).await;
        let error = json!({"code": -32602, "message": "which cursor?"});
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
        let first = server.expect(json!({"method": "tools/list"})).await;
        assert_eq!(first["params"].get("cursor"), None);
        server.answer(page("a", None, 0)).await;
    });
    assert_eq!(listed.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn discovery_is_kept_too_and_pings_are_not() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let found = json!({"resultType": "complete", "supportedVersions": [Revision::LATEST],
        "capabilities": {}, "ttlMs": 1000, "cacheScope": "public"});
    let (discovered, ()) = tokio::join!(connection.discover().into_future(), async {
        server.expect(json!({"method": "server/discover"})).await;
        server.answer(found.clone()).await;
    });
    discovered.unwrap();
    connection.discover().await.unwrap();
    let (pinged, ()) = tokio::join!(connection.ping().into_future(), async {
        server.expect(json!({"method": "server/discover"})).await;
        server.answer(found.clone()).await;
    });
    pinged.unwrap();
    let (legacy, _server) = meet(&plain(), Revision::V2025_11_25).await;
    assert!(matches!(
        legacy.discover().await,
        Err(CallError::NotOffered { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_cache_can_be_left_out() {
    let (connection, mut server) = meet(&plain().no_cache(), Revision::LATEST).await;
    for _ in 0..2 {
        assert_eq!(asked(&connection, &mut server, &["a"]).await, 1);
    }
}
