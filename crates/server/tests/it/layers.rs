//! Layers: code around calls, in order, which can change the call and its reply.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::{CallToolResult, Meta, Revision};
use turnbuckle_server::{
    Args, BoxFuture, Call, Caller, Extract, Failure, Layer, Next, Prompt, Reject, Reply, Resource,
    Server, Tool,
};

use crate::wire::Wire;

/// A record of what happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: impl Into<String>) {
        self.0
            .lock()
            .expect("no code panics while it holds the lock")
            .push(what.into());
    }

    fn read(&self) -> String {
        std::mem::take(
            &mut *self
                .0
                .lock()
                .expect("no code panics while it holds the lock"),
        )
        .join(" ")
    }

    /// A layer that records when a call enters and leaves it.
    fn layer(&self, name: &'static str) -> impl Layer {
        let diary = self.clone();
        move |call: Call<'static>, next: Next| {
            let diary = diary.clone();
            async move {
                diary.note(format!("{name}("));
                let reply = next.run(call).await;
                diary.note(")");
                reply
            }
        }
    }

    /// A handler that records that it ran.
    fn handler(&self) -> impl Fn() -> std::future::Ready<&'static str> + Send + Sync + 'static {
        let diary = self.clone();
        move || {
            diary.note("ran");
            std::future::ready("ran")
        }
    }
}

#[tokio::test]
async fn layers_go_from_the_servers_first_to_the_entrys_last() {
    let diary = Diary::default();
    let live = Server::new("s", "1")
        .tool(
            Tool::new("t", diary.handler())
                .layer(diary.layer("t1"))
                .layer(diary.layer("t2")),
        )
        .tool(Tool::new("bare", diary.handler()))
        .prompt(Prompt::new("p", diary.handler()).layer(diary.layer("p1")))
        .resource(Resource::new("r://it", diary.handler()).layer(diary.layer("r1")))
        .resource(Resource::new("r://{x}/y", diary.handler()).layer(diary.layer("u1")))
        .layer(diary.layer("s1"))
        .layer(diary.layer("s2"))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (method, params, expected) in [
            (
                "tools/call",
                json!({ "name": "t" }),
                "s1( s2( t1( t2( ran ) ) ) )",
            ),
            ("tools/call", json!({ "name": "bare" }), "s1( s2( ran ) )"),
            (
                "prompts/get",
                json!({ "name": "p" }),
                "s1( s2( p1( ran ) ) )",
            ),
            (
                "resources/read",
                json!({ "uri": "r://it" }),
                "s1( s2( r1( ran ) ) )",
            ),
            (
                "resources/read",
                json!({ "uri": "r://x/y" }),
                "s1( s2( u1( ran ) ) )",
            ),
        ] {
            wire.result(method, params).await;
            assert_eq!(diary.read(), expected, "{method}");
        }
        // A request that reaches no handler reaches no layer.
        wire.error("tools/call", json!({ "name": "no-such" })).await;
        wire.error("resources/read", json!({ "uri": "r://no/such/one" }))
            .await;
        wire.result("tools/list", json!({})).await;
        assert_eq!(diary.read(), "");
    }
}

#[tokio::test]
async fn a_layer_may_answer_itself() {
    let diary = Diary::default();
    let closed = async |call: Call<'static>, next: Next| -> Result<Reply, Failure> {
        match call.name() {
            "refused" => Err(Reject::new(7, "closed").into()),
            "answered" => Ok(Reply::Tool(CallToolResult::text("from the layer"))),
            _ => next.run(call).await,
        }
    };
    let live = Server::new("s", "1")
        .layer(diary.layer("outer"))
        .layer(closed)
        .layer(diary.layer("inner"))
        .tool(Tool::new("refused", diary.handler()))
        .tool(Tool::new("answered", diary.handler()))
        .tool(Tool::new("open", diary.handler()))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    assert_eq!(
        wire.code("tools/call", json!({ "name": "refused" })).await,
        7
    );
    assert_eq!(diary.read(), "outer( )");
    assert_eq!(wire.text("answered", json!({})).await, "from the layer");
    assert_eq!(diary.read(), "outer( )");
    assert_eq!(wire.text("open", json!({})).await, "ran");
    assert_eq!(diary.read(), "outer( inner( ran ) )");
}

#[tokio::test]
async fn a_layer_may_change_the_reply_of_any_kind() {
    let marking = async |call: Call<'static>, next: Next| -> Result<Reply, Failure> {
        let mark = Some(Meta::new().with("example.com/mark", call.name()));
        let mut reply = next.run(call).await?;
        match &mut reply {
            Reply::Tool(result) => result.meta = mark,
            Reply::Prompt(result) => result.meta = mark,
            Reply::Resource(result) => result.meta = mark,
            _ => {}
        }
        Ok(reply)
    };
    let live = Server::new("s", "1")
        .layer(marking)
        .tool(Tool::new("t", async || "hi"))
        .prompt(Prompt::new("p", async || "hi").about("A prompt."))
        .resource(Resource::new("r://it", async || "hi").mime_type("text/x"))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    let tool = wire.call("t", json!({})).await;
    assert_eq!(tool["_meta"], json!({ "example.com/mark": "t" }));
    let prompt = wire.result("prompts/get", json!({ "name": "p" })).await;
    assert_eq!(prompt["_meta"], json!({ "example.com/mark": "p" }));
    assert_eq!(prompt["description"], "A prompt.");
    let read = wire
        .result("resources/read", json!({ "uri": "r://it" }))
        .await;
    assert_eq!(read["_meta"], json!({ "example.com/mark": "r://it" }));
    assert_eq!(
        read["contents"][0],
        json!({ "uri": "r://it", "mimeType": "text/x", "text": "hi" })
    );
}

#[tokio::test]
async fn a_reply_of_another_kind_is_our_fault() {
    let odd = async |_: Call<'static>, _: Next| -> Result<Reply, Failure> {
        Ok(Reply::Tool(CallToolResult::text("a tool's")))
    };
    let live = Server::new("s", "1").prompt(Prompt::new("p", async || "").layer(odd));
    let mut wire = Wire::open(&live.build().expect("a server"));
    assert_eq!(
        wire.code("prompts/get", json!({ "name": "p" })).await,
        -32603
    );
}

/// The account of the caller, which a layer has found.
struct Account(String);

struct Of(String);

impl Extract for Of {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let account = call
            .get::<Account>()
            .ok_or_else(|| Reject::invalid_request("no account"))?;
        Ok(Self(account.0.clone()))
    }
}

#[tokio::test]
async fn a_layer_leaves_values_for_extractors_further_in() {
    // Code that must be awaited belongs in a layer; the extractor takes its result.
    let lookup = async |mut call: Call<'static>, next: Next| -> Result<Reply, Failure> {
        tokio::task::yield_now().await;
        let found = format!("account of {}", call.caller().id().unwrap_or("nobody"));
        call.insert(Account("overwritten".into()));
        call.insert(Account(found));
        next.run(call).await
    };
    let live = Server::new("s", "1")
        .tool(Tool::new("with", async |Of(account): Of| account).layer(lookup))
        .tool(Tool::new("without", async |Of(account): Of| account))
        .resource(Resource::new("r://{x}", async |Of(account): Of| account).layer(lookup))
        .build()
        .expect("a server");
    let mut wire = Wire::open_as(&live, Caller::new("ann"));
    assert_eq!(wire.text("with", json!({})).await, "account of ann");
    assert_eq!(
        wire.code("tools/call", json!({ "name": "without" })).await,
        -32600
    );
    let read = wire
        .result("resources/read", json!({ "uri": "r://1" }))
        .await;
    assert_eq!(read["contents"][0]["text"], "account of ann");
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    count: u32,
}

/// A layer that is a type of its own, and sees the whole call.
struct Witness(Diary);

impl Layer for Witness {
    fn call(&self, call: Call<'static>, next: Next) -> BoxFuture<'static, Result<Reply, Failure>> {
        let raw =
            |raw: Option<&serde_json::value::RawValue>| raw.map_or("-", |raw| raw.get()).to_owned();
        self.0.note(format!(
            "{} {} {} {} {}",
            call.name(),
            raw(call.raw_arguments()),
            raw(call.raw_meta()),
            call.revision(),
            call.caller().id().unwrap_or("local"),
        ));
        let diary = self.0.clone();
        Box::pin(async move {
            let reply = next.run(call).await;
            if let Err(Failure::Arguments(text)) = &reply {
                diary.note(text.lines().next().unwrap_or_default());
            }
            reply
        })
    }
}

#[tokio::test]
async fn a_layer_sees_the_call_and_the_arguments_that_did_not_fit() {
    let diary = Diary::default();
    let live = Server::new("s", "1")
        .layer(Witness(diary.clone()))
        .tool(Tool::new(
            "t",
            async |Args(Count { count }): Args<Count>| count,
        ))
        .resource(Resource::new(
            "r://{count}",
            async |Args(Count { count }): Args<Count>| count.to_string(),
        ))
        .build()
        .expect("a server");
    let mut wire = Wire::at_as(&live, Revision::V2025_11_25, Caller::new("ann")).await;
    let meta = json!({ "progressToken": 1 });
    let params = json!({ "name": "t", "arguments": { "count": "3" }, "_meta": meta });
    assert_eq!(
        wire.result("tools/call", params).await["content"][0]["text"],
        "3"
    );
    assert_eq!(
        diary.read(),
        r#"t {"count":"3"} {"progressToken":1} 2025-11-25 ann"#
    );
    wire.result("resources/read", json!({ "uri": "r://7" }))
        .await;
    assert_eq!(diary.read(), r#"r://7 {"count":"7"} - 2025-11-25 ann"#);
    // Invalid arguments pass through the layers as a failure, and become a result after them.
    let refused = wire.call("t", json!({ "count": "many" })).await;
    assert_eq!(refused["isError"], true);
    let notes = diary.read();
    assert!(notes.contains("`/count`"), "{notes}");
    let missing: Value = wire.call("t", json!({})).await;
    assert_eq!(missing["isError"], true);
}
