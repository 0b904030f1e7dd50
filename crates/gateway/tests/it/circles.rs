//! Gateways that serve each other, or themselves.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use turnbuckle_client::{Era, Listen, Target};
use turnbuckle_gateway::{Gateway, LiveGateway, Naming, UpstreamSettings};
use turnbuckle_host::{ServerSpec, ServerState};
use turnbuckle_server::{Resource, Server, Tool};

use crate::site::{Door, client, join, listen, remote};

/// Longer than anything here takes.
const SOON: Duration = Duration::from_secs(30);

fn clock(name: &str) -> Server {
    Server::new(name, "1.0.0")
        .tool(Tool::new("now", async || "noon"))
        .resource(Resource::new(format!("{name}://now"), async || "noon"))
}

/// A gateway with its own server, and its URL.
async fn gateway(server: &str) -> (LiveGateway, String) {
    let gateway = Gateway::new("gateway", "1.0.0").naming(Naming::Prefixed);
    let gateway = gateway.mount(server, clock(server)).expect("a server");
    let gateway = gateway.open().expect("a gateway");
    let url = listen(gateway.server().clone()).await;
    (gateway, url)
}

/// A gateway without servers, and its URL.
async fn empty() -> (LiveGateway, String) {
    let gateway = Gateway::new("gateway", "1.0.0").open().expect("a gateway");
    let url = listen(gateway.server().clone()).await;
    (gateway, url)
}

async fn names(gateway: &LiveGateway) -> Vec<String> {
    let client = join(&client(Era::Modern), gateway, Door::Lines).await;
    let tools = timeout(SOON, client.tools()).await.expect("it is soon");
    let tools = tools.expect("tools");
    let mut names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    names.sort();
    names
}

/// Waits until a gateway lists exactly these tools.
async fn lists(gateway: &LiveGateway, expected: &[&str]) {
    let listed = async {
        while names(gateway).await != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let is_late = timeout(SOON, listed).await.is_err();
    let found = names(gateway).await;
    assert!(!is_late, "{found:?} in place of {expected:?}");
}

#[tokio::test]
async fn a_gateway_does_not_serve_itself() {
    let (gateway, url) = gateway("clock").await;
    for url in [url.clone(), url.replace("/mcp", "/sse")] {
        gateway.add("me", remote(&url), UpstreamSettings::new());
        timeout(SOON, gateway.settled()).await.expect("it is soon");
        let states = gateway.states();
        let (_, state) = states.iter().find(|(id, _)| id.as_str() == "me").unwrap();
        let ServerState::Failed {
            failure,
            retry_after: None,
        } = state
        else {
            panic!("{url}: {state:?}");
        };
        assert!(failure.reason.contains("this gateway itself"), "{failure}");
        assert_eq!(names(&gateway).await, ["clock__now"]);
    }
    gateway.close().await;
}

#[tokio::test]
async fn gateways_that_name_each_other_offer_what_is_their_own() {
    let (one, one_url) = gateway("clock").await;
    let (two, two_url) = gateway("bell").await;
    let (three, three_url) = gateway("sun").await;
    let add = async |to: &LiveGateway, name: &str, url: &str| {
        to.add(name, remote(url), UpstreamSettings::new());
        timeout(SOON, to.settled()).await.expect("it is soon");
    };
    // A circle of three gateways, which contains a circle of two.
    add(&one, "two", &two_url).await;
    add(&two, "three", &three_url).await;
    add(&three, "one", &one_url).await;
    add(&two, "one", &one_url).await;
    lists(
        &one,
        &["clock__now", "two__bell__now", "two__three__sun__now"],
    )
    .await;
    lists(
        &two,
        &[
            "bell__now",
            "one__clock__now",
            "three__one__clock__now",
            "three__sun__now",
        ],
    )
    .await;
    lists(
        &three,
        &["one__clock__now", "one__two__bell__now", "sun__now"],
    )
    .await;
    // A change goes round once.
    one.add(
        "dial",
        ServerSpec::from_fn(|| {
            let live = clock("dial").build().expect("a server");
            Target::on_demand("dial".to_owned(), move || live.connect())
        }),
        UpstreamSettings::new(),
    );
    lists(
        &three,
        &[
            "one__clock__now",
            "one__dial__now",
            "one__two__bell__now",
            "sun__now",
        ],
    )
    .await;
    lists(
        &one,
        &[
            "clock__now",
            "dial__now",
            "two__bell__now",
            "two__three__sun__now",
        ],
    )
    .await;
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&client(era), &three, Door::Lines).await;
        let called = client.call("one__two__bell__now", json!({})).await;
        assert_eq!(called.expect("it is reached").text(), "noon");
        assert_eq!(client.read("bell://now").await.unwrap().contents.len(), 1);
        assert!(client.read("moon://now").await.is_err());
    }
    for gateway in [one, two, three] {
        gateway.close().await;
    }
}

#[tokio::test]
async fn two_gateways_that_have_nothing_but_each_other_refuse_what_goes_round() {
    for era in [Era::Modern, Era::Legacy] {
        let (one, one_url) = empty().await;
        let (two, two_url) = empty().await;
        one.add("two", remote(&two_url), UpstreamSettings::new().era(era));
        two.add("one", remote(&one_url), UpstreamSettings::new().era(era));
        timeout(SOON, one.settled()).await.expect("it is soon");
        timeout(SOON, two.settled()).await.expect("it is soon");
        assert!(names(&one).await.is_empty() && names(&two).await.is_empty());
        let client = join(&client(era), &one, Door::Lines).await;
        let read = timeout(SOON, client.read("moon://now")).await;
        let said = read.expect("it is soon").expect_err("nobody has it");
        assert!(
            said.to_string().contains("already passed through"),
            "{said}"
        );
        let listened = timeout(SOON, client.listen(Listen::new().resource("moon://now"))).await;
        drop(listened.expect("it is soon"));
        one.close().await;
        two.close().await;
    }
}

#[tokio::test]
async fn a_gateway_behind_gateways_is_reached() {
    let (mut last, mut url) = gateway("clock").await;
    let mut all = vec![last];
    for _ in 0..3 {
        (last, url) = {
            let gateway = Gateway::new("gateway", "1.0.0").server("next", remote(&url));
            let gateway = gateway.open().expect("a gateway");
            gateway.settled().await;
            let url = listen(gateway.server().clone()).await;
            (gateway, url)
        };
        all.push(last);
    }
    let first = all.last().expect("there are four");
    assert_eq!(names(first).await, ["clock__now"]);
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&client(era), first, Door::Lines).await;
        let called = client.call("clock__now", json!({})).await;
        assert_eq!(called.expect("it is reached").text(), "noon");
        assert_eq!(client.read("clock://now").await.unwrap().contents.len(), 1);
    }
    for gateway in all.iter().rev() {
        gateway.close().await;
    }
}
