//! Methods of a state type as handlers.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::json;
use turnbuckle::{Progress, Server, handlers};

use crate::wire::Wire;

struct Counter {
    total: AtomicU64,
    names: Vec<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Step(u64);

trait Stepping {
    type Step;
}

impl Stepping for Counter {
    type Step = Step;
}

#[handlers]
impl Counter {
    /// Count up.
    #[tool]
    async fn add(&self, #[extract] progress: Progress, #[arg(default = 1)] amount: u64) -> String {
        progress.at(1.0).await;
        self.raise(amount).to_string()
    }

    #[tool(name = "step")]
    fn by_step(self: Arc<Self>, step: <Self as Stepping>::Step) -> u64 {
        self.raise(step.0)
    }

    #[tool(read_only)]
    fn limit() -> u64 {
        u64::MAX
    }

    #[cfg(any())]
    #[tool]
    fn absent(&self) -> NoSuchType {}

    #[turnbuckle::prompt]
    async fn greet(&self, #[complete(Self::known)] name: String) -> String {
        format!(
            "Greet {name}, number {}.",
            self.total.load(Ordering::Relaxed)
        )
    }

    #[resource("count://{name}")]
    async fn read(&self, name: String) -> String {
        format!("{name}: {}", self.total.load(Ordering::Relaxed))
    }

    fn raise(&self, amount: u64) -> u64 {
        self.total.fetch_add(amount, Ordering::Relaxed) + amount
    }

    fn known(&self, partial: String) -> Vec<String> {
        self.names
            .iter()
            .filter(|name| name.starts_with(&partial))
            .cloned()
            .collect()
    }
}

fn server() -> Server {
    let names = vec!["Ada".to_owned(), "Alan".to_owned(), "Grace".to_owned()];
    Server::new("counter", "1.0.0").handlers(Counter {
        total: AtomicU64::new(0),
        names,
    })
}

#[tokio::test]
async fn methods_share_one_state() {
    let mut wire = Wire::open(server()).await;
    assert_eq!(wire.call("add", json!({})).await, "1");
    assert_eq!(wire.call("add", json!({ "amount": 4 })).await, "5");
    assert_eq!(wire.call("step", json!({ "step": 2 })).await, "7");
    assert_eq!(wire.call("limit", json!({})).await, u64::MAX.to_string());
    let read = wire
        .request("resources/read", json!({ "uri": "count://a" }))
        .await;
    assert_eq!(read["contents"][0]["text"], "a: 7");
    let params = json!({ "name": "greet", "arguments": { "name": "Ada" } });
    let got = wire.request("prompts/get", params).await;
    assert_eq!(
        got["messages"][0]["content"]["text"],
        "Greet Ada, number 7."
    );
    wire.close().await;
}

#[tokio::test]
async fn only_marked_methods_that_exist_are_listed() {
    let mut wire = Wire::open(server()).await;
    let listed = wire.request("tools/list", json!({})).await;
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["add", "step", "limit"]);
    assert_eq!(listed["tools"][0]["description"], "Count up.");
    wire.close().await;
}

#[tokio::test]
async fn a_method_completes_from_the_state() {
    let mut wire = Wire::open(server()).await;
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "greet" },
        "argument": { "name": "name", "value": "A" }
    });
    let completed = wire.request("completion/complete", params).await;
    assert_eq!(completed["completion"]["values"], json!(["Ada", "Alan"]));
    wire.close().await;
}

#[tokio::test]
async fn methods_stay_methods() {
    let counter = Arc::new(Counter {
        total: AtomicU64::new(0),
        names: Vec::new(),
    });
    assert_eq!(Arc::clone(&counter).by_step(Step(3)), 3);
    assert_eq!(
        counter.greet("Ada".to_owned()).await,
        "Greet Ada, number 3."
    );
    assert_eq!(Counter::limit(), u64::MAX);
}
