//! Requests that are passed on unchanged, over pipes and at every revision.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json, value::RawValue};
use tokio::sync::mpsc;
use turnbuckle_client::{
    Attribution, Client, Connection, RelayAsk, RelayCall, RelayEvent, RelayRequest, RelaySink,
    protocol::{ClientCapabilities, Id, Revision, envelope::Raw},
};

use crate::script::{Server, complete, everything, plain};

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

pub(crate) fn request(method: &str, params: &str) -> RelayRequest {
    let params = raw(params);
    RelayRequest::new(method, Some(Raw::from(&params).into()))
}

/// Stores the messages that belong to no call.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) notifications: Mutex<Vec<(String, String)>>,
    pub(crate) withdrawn: Mutex<Vec<Id>>,
    asks: Mutex<Option<mpsc::UnboundedSender<RelayAsk>>>,
}

impl Kept {
    /// The requests that reach the sink.
    pub(crate) fn asks(&self) -> mpsc::UnboundedReceiver<RelayAsk> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.asks.lock().unwrap() = Some(sender);
        receiver
    }
}

impl RelaySink for Kept {
    fn ask(&self, ask: RelayAsk) {
        if let Some(sender) = &*self.asks.lock().unwrap() {
            let _ = sender.send(ask);
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map_or("", RawValue::get).to_owned();
        let mut kept = self.notifications.lock().unwrap();
        kept.push((method.to_owned(), params));
    }

    fn withdrawn(&self, id: &Id) {
        self.withdrawn.lock().unwrap().push(id.clone());
    }
}

pub(crate) fn relaying() -> (Client, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let declared = ClientCapabilities::new()
        .with_form_elicitation()
        .with_sampling()
        .with_roots();
    (plain().relaying(declared, kept.clone()), kept)
}

async fn meet(revision: Revision) -> (Connection, Server, Arc<Kept>) {
    let (client, kept) = relaying();
    let (connection, server) = crate::script::meet(&client, revision).await;
    (connection, server, kept)
}

pub(crate) async fn result(call: &mut RelayCall) -> String {
    match call.next().await {
        RelayEvent::Result(result) => result.get().to_owned(),
        other => panic!("expected a result, got {other:?}"),
    }
}

async fn ask(call: &mut RelayCall) -> RelayAsk {
    match call.next().await {
        RelayEvent::Ask(ask) => ask,
        other => panic!("expected a question, got {other:?}"),
    }
}

/// Sends a call, so that it is in progress.
async fn begin(connection: &Connection, server: &mut Server, tool: &str) -> RelayCall {
    let params = format!(r#"{{"name":"{tool}"}}"#);
    let mut call = connection.relay(request("tools/call", &params)).unwrap();
    tokio::select! {
        biased;
        event = call.next() => panic!("nothing was said yet: {event:?}"),
        _ = server.expect(json!({"method": "tools/call", "params": {"name": tool}})) => {}
    }
    call
}

#[tokio::test(start_paused = true)]
async fn params_results_and_errors_are_handed_on_byte_for_byte() {
    for &revision in Revision::ALL {
        let (connection, mut server, _kept) = meet(revision).await;
        let params = r#"{ "zz":1.50e1, "name":"t\u0041", "_meta":{"a/b":[1, 2]},"arguments":{"n":9007199254740993}}"#;
        let mut call = connection.relay(request("tools/call", params)).unwrap();
        let said =
            r#"{ "content" : [], "x":12345678901234567890.10, "structuredContent":{"b":1,"a":2} }"#;
        let served = async {
            let heard = server.expect(json!({"method": "tools/call"})).await;
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{said}}}"#,
                heard["id"]
            );
            server.babble(&line).await;
            heard
        };
        let (got, heard) = tokio::join!(result(&mut call), served);
        assert_eq!(got, said);
        assert_eq!(
            heard["params"],
            serde_json::from_str::<Value>(params).unwrap()
        );

        let mut call = connection.relay(request("acme/any", "{}")).unwrap();
        let error = r#"{ "message":"no", "code":-32042, "data":{"z":1.0,"a":[ ]} }"#;
        let served = async {
            let heard = server.expect(json!({"method": "acme/any"})).await;
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#,
                heard["id"]
            );
            server.babble(&line).await;
        };
        let (event, ()) = tokio::join!(call.next(), served);
        let RelayEvent::Error(got) = event else {
            panic!("expected an error, got {event:?}")
        };
        assert_eq!(got.get(), error);
    }
}

#[tokio::test]
async fn exactly_the_given_capabilities_are_declared() {
    for &revision in Revision::ALL {
        let (client, _kept) = relaying();
        let (mut server, end) = Server::new();
        let (connection, said) = tokio::join!(
            std::future::IntoFuture::into_future(client.connect(end)),
            server.open_with(revision, everything())
        );
        connection.unwrap();
        let declared = if revision.is_modern() {
            &said["io.modelcontextprotocol/clientCapabilities"]
        } else {
            &said["capabilities"]
        };
        let mut names: Vec<_> = declared.as_object().unwrap().keys().collect();
        names.sort();
        // A handshake begins with the newest version, whatever the server answers.
        assert_eq!(names, ["elicitation", "roots", "sampling"], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_comes_as_it_was_written_before_the_result() {
    let (connection, mut server, _kept) = meet(Revision::V2025_11_25).await;
    let params = r#"{"name":"t","_meta":{"progressToken":"front"}}"#;
    let mut call = connection.relay(request("tools/call", params)).unwrap();
    let id = serde_json::to_value(call.id()).unwrap();
    let reports: Vec<_> = (1..4)
        .map(|n| format!(r#"{{ "progressToken":{id},"progress":{n}.50, "x":{{}} }}"#))
        .collect();
    let served = async {
        let meta = json!({"params": {"_meta": {"progressToken": id}}});
        server.expect(meta).await;
        for report in &reports {
            let line = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{report}}}"#
            );
            server.babble(&line).await;
        }
        server.answer(json!({"content": []})).await;
    };
    let read = async {
        for report in &reports {
            match call.next().await {
                RelayEvent::Progress(params) => assert_eq!(params.get(), report),
                other => panic!("expected progress, got {other:?}"),
            }
        }
        result(&mut call).await
    };
    let (got, ()) = tokio::join!(read, served);
    assert_eq!(got, r#"{"content":[]}"#);
}

#[tokio::test(start_paused = true)]
async fn a_question_on_a_pipe_belongs_to_the_only_call_that_may_be_asked() {
    for &revision in Revision::LEGACY {
        let (connection, mut server, kept) = meet(revision).await;
        let mut call = begin(&connection, &mut server, "t").await;
        // A server cannot ask during a list, so the list does not count.
        let mut list = connection.relay(request("tools/list", "{}")).unwrap();
        tokio::select! {
            biased;
            event = list.next() => panic!("{event:?}"),
            _ = server.expect(json!({"method": "tools/list"})) => {}
        }
        let params = r#"{ "messages":[ ],"maxTokens":1.0 }"#;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"q-1","method":"sampling/createMessage","params":{params}}}"#
        );
        server.babble(&line).await;
        let asked = ask(&mut call).await;
        assert_eq!(asked.attribution(), Attribution::OnlyCall);
        assert_eq!(asked.method(), "sampling/createMessage");
        assert_eq!(asked.params().unwrap().get(), params);
        asked.answer(&raw(r#"{"role":"assistant", "x":1.0}"#));
        server
            .expect(json!({"id": "q-1", "result": {"role": "assistant", "x": 1.0}}))
            .await;

        // With two calls, it is unknown which of them a question belongs to.
        let mut asks = kept.asks();
        let second = begin(&connection, &mut server, "u").await;
        server
            .say(json!({"jsonrpc": "2.0", "id": 2, "method": "roots/list"}))
            .await;
        let asked = asks.recv().await.unwrap();
        assert_eq!(asked.attribution(), Attribution::Unknown);
        asked.reject(&raw(r#"{"code":-32603, "message":"m", "data":1.0}"#));
        server
            .expect(json!({"id": 2, "error": {"code": -32603, "message": "m", "data": 1.0}}))
            .await;
        second.cancel("no longer wanted");
        server
            .expect(json!({
                "method": "notifications/cancelled", "params": {"reason": "no longer wanted"},
            }))
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_task_belongs_to_the_call_for_its_result() {
    let (connection, mut server, kept) = meet(Revision::V2025_11_25).await;
    let _other = begin(&connection, &mut server, "t").await;
    let mut waiting = connection
        .relay(request("tasks/result", r#"{"taskId":"a"}"#))
        .unwrap();
    tokio::select! {
        biased;
        event = waiting.next() => panic!("{event:?}"),
        _ = server.expect(json!({"method": "tasks/result"})) => {}
    }
    let about =
        |task: &str| json!({"_meta": {"io.modelcontextprotocol/related-task": {"taskId": task}}});
    server
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": about("a")}))
        .await;
    let asked = ask(&mut waiting).await;
    assert_eq!(asked.attribution(), Attribution::Task);
    assert_eq!(asked.related_task(), Some("a"));
    drop(asked);
    server
        .expect(json!({"id": 1, "error": {"code": -32603}}))
        .await;
    let mut asks = kept.asks();
    server
        .say(json!({"jsonrpc": "2.0", "id": 2, "method": "roots/list", "params": about("b")}))
        .await;
    let asked = asks.recv().await.unwrap();
    assert_eq!(asked.related_task(), Some("b"));
    assert_eq!(asked.attribution(), Attribution::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_question_is_not_answered() {
    let (connection, mut server, kept) = meet(Revision::V2025_11_25).await;
    let mut call = begin(&connection, &mut server, "t").await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"}))
        .await;
    let asked = ask(&mut call).await;
    assert!(!asked.is_withdrawn());
    server
        .say(json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5},
        }))
        .await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 6, "method": "ping"}))
        .await;
    // The ping was read after the cancellation, and its answer is the next message.
    server.expect(json!({"id": 6, "result": {}})).await;
    assert!(asked.is_withdrawn());
    assert_eq!(*kept.withdrawn.lock().unwrap(), [Id::Int(5)]);
    asked.answer(&raw("{}"));
    server
        .say(json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
        .await;
    server.expect(json!({"id": 7})).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_question_is_open_no_deadline_runs_out() {
    let (connection, mut server, _kept) = meet(Revision::V2025_06_18).await;
    let mut call = begin(&connection, &mut server, "t").await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"}))
        .await;
    let asked = ask(&mut call).await;
    tokio::time::sleep(std::time::Duration::from_hours(1)).await;
    asked.answer(&raw(r#"{"roots":[]}"#));
    server.expect(json!({"id": 5})).await;
    server.answer(json!({"content": []})).await;
    assert_eq!(result(&mut call).await, r#"{"content":[]}"#);
    // Without an open question the deadline passes.
    let mut call = begin(&connection, &mut server, "t").await;
    assert!(matches!(call.next().await, RelayEvent::Lost(_)));
    server
        .expect(json!({"method": "notifications/cancelled"}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn log_messages_go_to_the_only_call_and_changes_to_the_sink() {
    for &revision in Revision::ALL {
        let (connection, mut server, kept) = meet(revision).await;
        let mut call = begin(&connection, &mut server, "t").await;
        let log = r#"{ "level":"info","data":{"n":1.0} }"#;
        let line = |params| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#)
        };
        server.babble(&line(log)).await;
        let RelayEvent::Notification(method, Some(params)) = call.next().await else {
            panic!("a log message comes first")
        };
        assert_eq!((&*method, params.get()), ("notifications/message", log));

        let second = begin(&connection, &mut server, "u").await;
        server.babble(&line(log)).await;
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .await;
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id-1", "result": complete(json!({}), revision)}))
            .await;
        result(&mut call).await;
        let kept = kept.notifications.lock().unwrap().clone();
        assert_eq!(
            kept,
            [
                ("notifications/message".to_owned(), log.to_owned()),
                ("notifications/tools/list_changed".to_owned(), String::new()),
            ],
            "{revision}"
        );
        drop(second);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_modern_subscription_tells_on_a_pipe_belongs_to_its_request() {
    let (connection, mut server, kept) = meet(Revision::V2026_07_28).await;
    let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
    let mut listen = connection
        .relay(request("subscriptions/listen", filter))
        .unwrap();
    tokio::select! {
        biased;
        event = listen.next() => panic!("{event:?}"),
        _ = server.expect(json!({"method": "subscriptions/listen"})) => {}
    }
    let meta = json!({"io.modelcontextprotocol/subscriptionId": "$id"});
    for (method, params) in [
        (
            "notifications/subscriptions/acknowledged",
            json!({"_meta": meta, "notifications": {"toolsListChanged": true}}),
        ),
        ("notifications/tools/list_changed", json!({"_meta": meta})),
    ] {
        server
            .say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
        let RelayEvent::Notification(told, Some(_)) = listen.next().await else {
            panic!("a notification is next")
        };
        assert_eq!(&*told, method);
    }
    assert!(kept.notifications.lock().unwrap().is_empty());
    drop(listen);
    server
        .expect(json!({"method": "notifications/cancelled"}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_with_the_connection() {
    let (connection, mut server, _kept) = meet(Revision::V2025_11_25).await;
    let mut call = begin(&connection, &mut server, "t").await;
    drop(server);
    let RelayEvent::Lost(error) = call.next().await else {
        panic!("the server is gone")
    };
    assert!(error.to_string().contains("script"), "{error}");
    assert!(connection.relay(request("tools/list", "{}")).is_err());
}
