//! Changes and logs from a handler with attributes to our own client, at every revision.

use serde_json::json;
use turnbuckle::{
    client::{Change, Listen},
    prelude::*,
    protocol::LoggingLevel,
};
use turnbuckle_testing::every_revision;

/// What is watched.
#[resource("news://{topic}")]
async fn news(topic: String) -> String {
    topic
}

/// Says that a topic has news.
#[tool]
async fn announce(#[extract] changes: Changes, #[extract] log: Log, topic: String) -> String {
    changes.resource(format!("news://{topic}"));
    log.named("press").notice(json!({ "topic": topic }));
    log.debug("nobody asked for this");
    topic
}

fn press() -> Server {
    turnbuckle::server!()
        .no_default_log_level()
        .resource(news)
        .tool(announce)
}

every_revision! {
    async fn a_listener_is_notified_of_a_resource(client = press()) {
        let wish = Listen::new().resource("news://rain").resource("news://snow");
        let mut changes = client.listen(wish).await.unwrap();
        for topic in ["sun", "snow"] {
            client.call("announce", json!({ "topic": topic })).await.unwrap();
        }
        let change = changes.next().await.unwrap().unwrap();
        assert!(
            matches!(&change, Change::ResourceUpdated { uri, .. } if &**uri == "news://snow"),
            "{change:?}"
        );
    }

    async fn clients_that_ask_for_logs_get_them(client = press()) {
        let mut logs = client.logs();
        client.call("announce", json!({ "topic": "unheard" })).await.unwrap();
        client
            .call("announce", json!({ "topic": "rain" }))
            .log_level(LoggingLevel::Info)
            .await
            .unwrap();
        let first = format!("{:?}", logs.next().await.unwrap());
        assert!(first.contains("rain") && first.contains("press"), "{first}");
    }
}
