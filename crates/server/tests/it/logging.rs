//! Log messages: who gets them, when, and what happens if they are not read.

use serde_json::{Value, json};
use turnbuckle_protocol::{LoggingLevel, Revision, error::code};
use turnbuckle_server::{Args, BoxFuture, Call, Failure, Layer, Log, Next, Reply, Server, Tool};

use crate::wire::Wire;

const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const MESSAGE: &str = "notifications/message";

/// Logs one message at each level, the least severe first.
async fn chatter(log: Log) -> &'static str {
    log.debug("debug");
    log.info("info");
    log.notice("notice");
    log.warning("warning");
    log.error("error");
    log.critical("critical");
    log.alert("alert");
    log.emergency("emergency");
    "done"
}

fn server() -> Server {
    Server::new("s", "1")
        .tool(Tool::new("chatter", chatter))
        .tool(Tool::new("silent", async || "done"))
}

/// Requests log messages as the revision defines; returns the params of a call to a tool.
async fn asking(wire: &mut Wire, revision: Revision, level: &str, tool: &str) -> Value {
    let mut params = json!({ "name": tool, "arguments": {} });
    if revision.is_modern() {
        params["_meta"] = crate::wire::modern_meta();
        params["_meta"][LEVEL] = json!(level);
    } else {
        let set = wire.result("logging/setLevel", json!({ "level": level }));
        assert_eq!(set.await, json!({}));
    }
    params
}

// rule: L2
#[tokio::test]
async fn messages_as_severe_as_asked_for_come_before_the_response() {
    for &revision in Revision::ALL {
        let live = server().build().expect("a server");
        for (mildest, level) in LEVELS.into_iter().enumerate() {
            let mut wire = Wire::at(&live, revision).await;
            let params = asking(&mut wire, revision, level, "chatter").await;
            let id = wire.ask("tools/call", params).await;
            for expected in &LEVELS[mildest..] {
                let message = wire.receive().await;
                assert_eq!(message["method"], MESSAGE);
                assert_eq!(
                    message["params"],
                    json!({ "level": expected, "data": expected }),
                    "{level} at {revision}"
                );
            }
            assert_eq!(wire.receive().await["id"], id);
        }
    }
}

// rule: L2
#[tokio::test]
async fn clients_that_did_not_ask_get_no_log_messages() {
    // logging: a request without a level MUST NOT be sent any.
    for &revision in Revision::ALL {
        let live = server().no_default_log_level().build().expect("a server");
        let mut asked = Wire::at(&live, revision).await;
        let params = asking(&mut asked, revision, "debug", "chatter").await;
        asked.ask("tools/call", params).await;
        asked.receive_many(LEVELS.len() + 1).await;
        let mut wire = Wire::at(&live, revision).await;
        assert_eq!(wire.text("chatter", json!({})).await, "done");
        wire.assert_quiet().await;
        if revision.is_modern() {
            // Nor a request on a connection where another request had a level.
            assert_eq!(asked.text("chatter", json!({})).await, "done");
        }
    }
}

#[tokio::test]
async fn a_session_changes_its_mind() {
    let live = server().build().expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_06_18).await;
    for (level, count) in [("emergency", 1), ("alert", 2), ("emergency", 1)] {
        let params = asking(&mut wire, Revision::V2025_06_18, level, "chatter").await;
        wire.ask("tools/call", params).await;
        let messages = wire.receive_many(count + 1).await;
        assert!(messages[count].get("result").is_some());
    }
}

// rule: L2, L4, J17
#[tokio::test]
async fn an_unknown_level_is_refused() {
    // logging: an invalid level is -32602.
    let live = server().build().expect("a server");
    for &revision in Revision::LEGACY {
        let mut wire = Wire::at(&live, revision).await;
        for params in [
            json!({ "level": "loud" }),
            json!({ "level": 3 }),
            json!({ "level": "Debug" }),
            json!({}),
        ] {
            let error = wire.error("logging/setLevel", params).await;
            assert_eq!(error["code"], code::INVALID_PARAMS);
            let message = error["message"].as_str().expect("text");
            assert!(message.ends_with("alert and emergency"), "{message}");
        }
    }
    let mut wire = Wire::open(&live);
    for level in [json!("loud"), json!(3), Value::Null] {
        let mut meta = crate::wire::modern_meta();
        meta[LEVEL] = level;
        let call = json!({ "name": "silent", "arguments": {}, "_meta": meta });
        let error = wire.error("tools/call", call).await;
        assert_eq!(error["code"], code::INVALID_PARAMS);
        assert!(error["message"].as_str().expect("text").contains("notice"));
    }
    // 2026-07-28 has no `logging/setLevel`.
    let refused = wire.code("logging/setLevel", json!({ "level": "debug" }));
    assert_eq!(refused.await, code::METHOD_NOT_FOUND);
}

// rule: L1
#[tokio::test]
async fn the_capability_is_there_where_a_handler_logs() {
    let silent = || Server::new("s", "1").tool(Tool::new("silent", async || "done"));
    for &revision in Revision::LEGACY {
        let mut wire = Wire::open(&server().build().expect("a server"));
        let declared = wire.initialize(revision.as_str()).await;
        assert_eq!(declared["capabilities"]["logging"], json!({}));
        let mut wire = Wire::open(&silent().build().expect("a server"));
        let declared = wire.initialize(revision.as_str()).await;
        assert_eq!(declared["capabilities"].get("logging"), None);
        let refused = wire.code("logging/setLevel", json!({ "level": "debug" }));
        assert_eq!(refused.await, code::METHOD_NOT_FOUND);
    }
    let live = silent().logging().build().expect("a server");
    let mut wire = Wire::open(&live);
    let discovered = wire.result("server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"]["logging"], json!({}));
}

#[tokio::test]
async fn parts_of_a_server_have_names_and_say_any_json() {
    let parts = async |log: Log| {
        log.named("db")
            .error(json!({ "code": 5, "where": ["a", null] }));
        log.say(LoggingLevel::Notice, ("pair", 1.5));
        assert!(log.is_wanted(LoggingLevel::Notice) && !log.is_wanted(LoggingLevel::Info));
    };
    let live = server()
        .tool(Tool::new("parts", parts))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let params = asking(&mut wire, revision, "notice", "parts").await;
        wire.ask("tools/call", params).await;
        assert_eq!(
            wire.receive().await["params"],
            json!({ "level": "error", "logger": "db", "data": { "code": 5, "where": ["a", null] } })
        );
        let plain = json!({ "level": "notice", "data": ["pair", 1.5] });
        assert_eq!(wire.receive().await["params"], plain);
    }
}

struct Told;

impl Layer for Told {
    fn call(&self, call: Call<'static>, next: Next) -> BoxFuture<'static, Result<Reply, Failure>> {
        let log = Log::of(&call);
        Box::pin(async move {
            log.info("before");
            let reply = next.run(call).await;
            log.info("after");
            reply
        })
    }
}

#[tokio::test]
async fn layers_log_too() {
    let live = server().layer(Told).logging().build().expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let params = asking(&mut wire, revision, "info", "silent").await;
        wire.ask("tools/call", params).await;
        assert_eq!(wire.receive().await["params"]["data"], "before");
        assert_eq!(wire.receive().await["params"]["data"], "after");
        wire.receive().await;
    }
}

#[tokio::test]
async fn nothing_is_said_after_the_call_has_ended() {
    let (sender, mut later) = tokio::sync::mpsc::unbounded_channel();
    let keep = move |log: Log| {
        let sender = sender.clone();
        async move { sender.send(log).is_ok().to_string() }
    };
    let live = server()
        .tool(Tool::new("keep", keep))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let params = asking(&mut wire, revision, "debug", "keep").await;
        wire.result("tools/call", params).await;
        let log = later.recv().await.expect("the log of the call");
        log.emergency("too late");
        assert!(!log.is_wanted(LoggingLevel::Emergency));
        wire.assert_quiet().await;
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Times {
    times: usize,
}

#[tokio::test]
async fn a_client_that_does_not_read_loses_messages_and_holds_up_nothing() {
    // Far more than the pipe and the outbox hold, logged without waiting.
    let flood = async |log: Log, Args(Times { times }): Args<Times>| {
        for number in 0..times {
            log.info(json!({ "number": number, "padding": "x".repeat(1000) }));
        }
        log.info("x".repeat(100_000));
        tokio::task::yield_now().await;
        "done"
    };
    let live = server()
        .tool(Tool::new("flood", flood))
        .build()
        .expect("a server");
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let mut wire = Wire::at(&live, revision).await;
        let mut params = asking(&mut wire, revision, "info", "flood").await;
        params["arguments"] = json!({ "times": 10_000 });
        let id = wire.ask("tools/call", params).await;
        let mut received = 0;
        loop {
            let message = wire.receive().await;
            if message["id"] == id {
                break;
            }
            received += 1;
        }
        assert!((100..10_000).contains(&received), "{received}");
    }
}

#[tokio::test]
async fn a_client_that_reads_again_is_told_how_much_it_lost() {
    let mut large = "x".repeat(100_000);
    large.push('y');
    let lose = move |log: Log| {
        let large = large.clone();
        async move {
            log.critical(&large);
            log.critical(&large);
            log.critical("small");
        }
    };
    let live = server()
        .tool(Tool::new("lose", lose))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        // For a client that wants no warnings, the report has the level that it wants.
        for (wanted, told) in [
            ("info", "warning"),
            ("warning", "warning"),
            ("error", "error"),
        ] {
            let mut wire = Wire::at(&live, revision).await;
            let params = asking(&mut wire, revision, wanted, "lose").await;
            wire.ask("tools/call", params).await;
            let report = wire.receive().await["params"].take();
            assert_eq!(report["level"], told, "{revision}");
            assert_eq!(report["data"]["dropped"], 2);
            assert_eq!(wire.receive().await["params"]["data"], "small");
        }
    }
}

#[cfg(feature = "tracing-layer")]
mod events {
    use tracing_subscriber::layer::SubscriberExt as _;
    use turnbuckle_server::ClientLog;

    use super::*;

    async fn busy() -> &'static str {
        tracing::info!(target: "app::db", rows = 3, slow = true, "queried {}", "it");
        tracing::debug!(target: "app", "not wanted");
        tracing::error!(target: "library", "a secret");
        tokio::task::yield_now().await;
        tracing::warn!(target: "app", "later");
        "done"
    }

    async fn spawning(log: Log) -> &'static str {
        let lost = tokio::spawn(async { tracing::info!(target: "app", "lost") });
        let kept = tokio::spawn(log.scope(async { tracing::info!(target: "app", "kept") }));
        let _ = (lost.await, kept.await);
        "done"
    }

    #[tokio::test]
    async fn tracing_events_of_a_handler_are_sent_to_its_caller() {
        let subscriber = tracing_subscriber::registry().with(ClientLog::of("app"));
        let _guard = tracing::subscriber::set_default(subscriber);
        let server = || {
            Server::new("s", "1")
                .no_default_log_level()
                .tool(Tool::new("busy", busy))
                .tool(Tool::new("spawning", spawning))
        };
        for live in [server(), server().layer(Told)].map(|server| server.build().expect("a server"))
        {
            for &revision in Revision::ALL {
                let mut wire = Wire::at(&live, revision).await;
                assert_eq!(wire.text("busy", json!({})).await, "done");
                let params = asking(&mut wire, revision, "info", "busy").await;
                let id = wire.ask("tools/call", params).await;
                let mut told = Vec::new();
                loop {
                    let message = wire.receive().await;
                    if message["id"] == id {
                        break;
                    }
                    told.push(message["params"].clone());
                }
                told.retain(|params| params.get("logger").is_some());
                let fields = json!({ "message": "queried it", "rows": 3, "slow": true });
                assert_eq!(
                    told,
                    [
                        json!({ "level": "info", "logger": "app::db", "data": fields }),
                        json!({ "level": "warning", "logger": "app", "data": { "message": "later" } }),
                    ]
                );
            }
        }
        let live = server().build().expect("a server");
        let mut wire = Wire::at(&live, Revision::LATEST).await;
        let params = asking(&mut wire, Revision::LATEST, "info", "spawning").await;
        wire.ask("tools/call", params).await;
        assert_eq!(wire.receive().await["params"]["data"]["message"], "kept");
        wire.receive().await;
    }
}
