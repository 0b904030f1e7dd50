//! Policies for updates of resources: callers hear only of resources that they may use.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::{Connection, Era, Listen, NotificationStream, ServerNotification};
use turnbuckle_gateway::{
    Gateway, LiveGateway,
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_server::{Changes, Resource, Server, Tool};

use crate::{
    raw_child,
    site::{client, join_as, listen, remote},
};

/// A gateway in front of a process that reports changes of `a:1/part/2` to everyone.
async fn reporting(policy: Policy) -> LiveGateway {
    let file = std::env::temp_dir().join("turnbuckle-gateway-policy-resources");
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server("raw", raw_child::spec(&file))
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

/// The params of the next update, without the id of the subscription.
async fn next_update(news: &mut NotificationStream) -> Value {
    loop {
        let told = news.next().await.expect("the connection is open");
        if let ServerNotification::ResourceUpdated { params, .. } = told {
            let mut params: Value = serde_json::from_str(params.get()).expect("JSON");
            params.as_object_mut().expect("params").remove("_meta");
            return params;
        }
    }
}

/// Lets the server report changes until a listener is notified as expected. All other updates that
/// it gets must be only about the resource that it follows: they are sent when it subscribes.
async fn hears(
    operator: &Connection,
    news: &mut NotificationStream,
    expected: &Value,
    followed: &str,
) {
    for _ in 0..200 {
        operator.call("update", json!({})).await.expect("updated");
        let soon = tokio::time::timeout(Duration::from_millis(200), next_update(news));
        match soon.await {
            Ok(update) if update == *expected => return,
            Ok(update) => assert_eq!(update, json!({ "uri": followed })),
            Err(_) => {}
        }
    }
    panic!("{expected} was not heard");
}

/// Checks that all updates that were sent to a listener are about the resource that it follows.
async fn hears_nothing_else(news: &mut NotificationStream, followed: &str) {
    let soon = Duration::from_millis(300);
    while let Ok(update) = tokio::time::timeout(soon, next_update(news)).await {
        assert_eq!(update, json!({ "uri": followed }));
    }
}

#[tokio::test]
async fn updates_do_not_name_resources_that_the_caller_may_not_use() {
    let of_part = json!({ "uri": "a:1/part/2", "title": "T", "n": 1.0e2 });
    for era in [Era::Legacy, Era::Modern] {
        for (followed, bobs) in [
            // A part of a resource that he may use.
            ("a:1", Some(json!({ "uri": "a:1" }))),
            // Servers may choose the URIs of parts freely.
            ("b:1", None),
        ] {
            let few = PolicyRule::for_callers(["bob"]).allow(["resource:a:1", "resource:b:1"]);
            let gateway = reporting(Policy::new().rule(few)).await;
            let ada = join_as(&client(era), &gateway, "ada").await;
            let bob = join_as(&client(era), &gateway, "bob").await;
            let (mut adas_news, mut bobs_news) = (ada.notifications(), bob.notifications());
            let _ada = ada.listen(Listen::new().resource(followed)).await;
            let _bob = bob.listen(Listen::new().resource(followed)).await;
            hears(&ada, &mut adas_news, &of_part, followed).await;
            if let Some(expected) = bobs {
                hears(&ada, &mut bobs_news, &expected, followed).await;
            } else {
                // By then, the update has been sent to everyone.
                hears(&ada, &mut adas_news, &of_part, followed).await;
                hears_nothing_else(&mut bobs_news, followed).await;
            }
            gateway.close().await;
        }
    }
}

/// A rule that is added later counts for subscriptions that are open.
#[tokio::test]
async fn a_resource_that_is_denied_later_is_reported_no_more() {
    for era in [Era::Legacy, Era::Modern] {
        let operation = Arc::new(Operation::new());
        let touching = |changes: Changes| async move {
            changes.resource("note://one");
            "touched"
        };
        let server = Server::new("notes", "1")
            .resource(Resource::new("note://one", async || "a note"))
            .tool(Tool::new("touch", touching));
        let url = listen(server.build().expect("a server")).await;
        let gateway = Gateway::new("gateway", "1")
            .operation(Arc::clone(&operation))
            .server("notes", remote(&url))
            .open()
            .expect("a gateway");
        gateway.settled().await;
        let ada = join_as(&client(era), &gateway, "ada").await;
        let bob = join_as(&client(era), &gateway, "bob").await;
        let (mut adas_news, mut bobs_news) = (ada.notifications(), bob.notifications());
        let _ada = ada.listen(Listen::new().resource("note://one")).await;
        let _bob = bob.listen(Listen::new().resource("note://one")).await;
        let soon = Duration::from_millis(300);
        let touch = async |news: &mut NotificationStream| {
            loop {
                ada.call("touch", json!({})).await.expect("touched");
                if tokio::time::timeout(soon, next_update(news)).await.is_ok() {
                    return;
                }
            }
        };
        touch(&mut bobs_news).await;
        let rule = PolicyRule::for_callers(["bob"]).deny(["resource:note:*"]);
        operation.set_policy(Policy::new().rule(rule));
        while tokio::time::timeout(soon, next_update(&mut bobs_news))
            .await
            .is_ok()
        {}
        while tokio::time::timeout(soon, next_update(&mut adas_news))
            .await
            .is_ok()
        {}
        touch(&mut adas_news).await;
        let told = tokio::time::timeout(soon, next_update(&mut bobs_news)).await;
        assert!(told.is_err(), "{era:?}: {told:?}");
        gateway.close().await;
    }
}
