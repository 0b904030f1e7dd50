//! A gateway in front of one process that follows instructions of the test.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use turnbuckle_client::Connection;
use turnbuckle_gateway::{Gateway, LiveGateway};

use crate::{
    by_hand::{call, keys, request, retry, send},
    raw_child,
};

/// A gateway in front of one process that all callers share.
pub(crate) async fn shared(park_for: Duration) -> LiveGateway {
    let file = std::env::temp_dir().join("turnbuckle-gateway-attribution");
    let gateway = Gateway::new("gateway", "1.0.0")
        .server("raw", raw_child::spec(&file))
        .park_for(park_for)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

/// Tells the process to do something. Returns its answer.
pub(crate) async fn tell(operator: &Connection, what: &str) -> bool {
    let mut params = call("", &json!({ "cursor": what }));
    params.as_object_mut().expect("params").remove("name");
    let page = request(operator, "prompts/list", &params).await;
    page.expect("a page").get("nextCursor").is_some()
}

/// Waits until the process answers yes.
pub(crate) async fn until(operator: &Connection, what: &str) {
    while !tell(operator, what).await {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn params(tool: &str, who: &str) -> Value {
    call(tool, &json!({ "arguments": { "who": who } }))
}

/// Begins a call, and waits until the process has received it.
pub(crate) async fn begin(
    caller: &Connection,
    operator: &Connection,
    tool: &str,
    who: &str,
) -> JoinHandle<Result<Value, Value>> {
    let (caller, params) = (caller.clone(), params(tool, who));
    let begun = tokio::spawn(async move { send(&caller, &params).await });
    until(operator, &format!("is {who}")).await;
    begun
}

/// The retry with the answer yes.
pub(crate) fn yes(tool: &str, who: &str, asked: &Value) -> Value {
    let mut retry = retry(tool, asked, &keys(asked));
    retry["arguments"] = json!({ "who": who });
    retry
}
