//! A custom extension, from end to end.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use turnbuckle::{
    Ask, CallError, Client, Connection, Declared, Extension, ExtensionMethod, Notify, Params,
    Reject, Reply, Revision, Server, State, Tool,
    client::ServerNotification,
    protocol::{
        ExtensionSpec,
        method::{Method, NotificationMethod},
    },
};
use turnbuckle_server::Http;
use turnbuckle_testing::{connect_at, connect_with, record};

const EVERY: [Revision; 5] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

struct Almanac;

#[derive(Debug, Default, Serialize, Deserialize)]
struct AlmanacClient {
    #[serde(default)]
    metric: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct AlmanacServer {
    since: u16,
}

impl ExtensionSpec for Almanac {
    const ID: &'static str = "com.example/almanac";
    type Client = AlmanacClient;
    type Server = AlmanacServer;
}

#[derive(Serialize, Deserialize)]
struct Day {
    day: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Weather {
    degrees: f64,
}

macro_rules! method {
    ($name:ident = $wire:literal $(, $named:literal)?) => {
        struct $name;

        impl Method for $name {
            const NAME: &'static str = $wire;
            type Params = Day;
            type Result = Weather;
            type Outcome = Weather;
            $(const NAMED_BY: Option<&'static str> = Some($named);)?
        }
    };
}

method!(AlmanacRead = "almanac/read", "day");
method!(AlmanacPublic = "almanac/public");
method!(AlmanacAsk = "almanac/ask");
method!(Core = "tools/call");

struct Looked;

impl NotificationMethod for Looked {
    const NAME: &'static str = "notifications/almanac/looked";
    type Params = Day;
}

type Heard = Arc<Mutex<Vec<String>>>;

async fn read(
    Params(asked): Params<Day>,
    Declared(client): Declared<Almanac>,
    State(record): State<f64>,
    notify: Notify,
) -> Result<Weather, Reject> {
    if asked.day != "1816-07-04" {
        return Err(Reject::invalid_params(format!(
            "nothing is known of {}",
            asked.day
        )));
    }
    notify.send::<Looked>(&Day { day: "1816".into() }).await;
    let is_metric = client.is_some_and(|client| client.metric);
    let degrees = if is_metric {
        record
    } else {
        record * 1.8 + 32.0
    };
    Ok(Weather { degrees })
}

async fn public() -> Weather {
    Weather { degrees: 1.0 }
}

async fn asking(Ask(_): Ask) -> Weather {
    Weather { degrees: 2.0 }
}

fn almanac(heard: &Heard) -> Extension {
    let heard = Arc::clone(heard);
    Extension::of::<Almanac>(&AlmanacServer { since: 1800 })
        .method(ExtensionMethod::new::<AlmanacRead, _>(read))
        .method(ExtensionMethod::cacheable::<AlmanacPublic, _>(public).open())
        .method(ExtensionMethod::new::<AlmanacAsk, _>(asking).open())
        .on::<Looked>(move |looked, _| heard.lock().unwrap().push(looked.day))
        .tool(Tool::new("today", || async { "9 °C" }))
}

fn server(heard: &Heard) -> Server {
    Server::new("weather", "1")
        .state(10.0_f64)
        .extension(almanac(heard))
}

fn client() -> Client {
    Client::new("host", "1").declare::<Almanac>(&AlmanacClient { metric: true })
}

fn day(day: &str) -> Day {
    Day { day: day.into() }
}

async fn read_weather(server: &Connection) -> Result<Weather, CallError> {
    let almanac = server.extension::<Almanac>()?;
    assert_eq!(almanac.settings().since, 1800);
    almanac.call::<AlmanacRead>(&day("1816-07-04")).await
}

#[tokio::test]
async fn a_method_is_called_with_its_types_at_every_revision() {
    let heard = Heard::default();
    let live = server(&heard).build().unwrap();
    for revision in EVERY {
        let server = connect_with(&live, &client().only(revision)).await.unwrap();
        assert_eq!(
            read_weather(&server).await.unwrap(),
            Weather { degrees: 10.0 },
            "{revision}"
        );
        let almanac = server.extension::<Almanac>().unwrap();
        let error = almanac
            .call::<AlmanacRead>(&day("never"))
            .await
            .unwrap_err();
        assert_eq!(error.rejection().unwrap().code, -32602, "{revision}");
        assert_eq!(server.call("today", ()).await.unwrap().text(), "9 °C");
    }
}

// rule: M12
// basic: a request that lacks a capability MUST be answered with -32021 and the missing capability; older
// revisions do not have this error.
#[tokio::test]
async fn a_client_that_does_not_declare_it_is_told_what_is_missing() {
    let live = server(&Heard::default()).build().unwrap();
    for revision in EVERY {
        let server = connect_at(&live, revision).await.unwrap();
        let error = read_weather(&server).await.unwrap_err();
        let error = error.rejection().unwrap();
        if revision.is_modern() {
            assert_eq!(error.code, -32021);
            let missing = error
                .missing_capability_data()
                .unwrap()
                .required_capabilities;
            assert!(missing.extension(Almanac::ID).is_some());
        } else {
            assert_eq!(error.code, -32601, "{revision}");
        }
        let almanac = server.extension::<Almanac>().unwrap();
        let open = almanac.call::<AlmanacPublic>(&day("")).await.unwrap();
        assert_eq!(open, Weather { degrees: 1.0 }, "{revision}");
    }
}

#[tokio::test]
async fn it_is_declared_where_each_revision_has_room() {
    let live = server(&Heard::default()).build().unwrap();
    for revision in EVERY {
        let (pipe, recorded) = record(&live);
        let server = client().only(revision).connect(pipe).await.unwrap();
        read_weather(&server).await.unwrap();
        let lines: Vec<Value> = recorded
            .lines()
            .into_iter()
            .map(|line| line.message)
            .collect();
        let place = if revision < Revision::V2025_11_25 {
            "experimental"
        } else {
            "extensions"
        };
        let offered = lines
            .iter()
            .find_map(|line| line["result"].get("capabilities"))
            .unwrap();
        assert_eq!(
            offered[place][Almanac::ID],
            json!({"since": 1800}),
            "{revision}"
        );
        let key = "io.modelcontextprotocol/clientCapabilities";
        let said = if revision.is_modern() {
            let call = lines
                .iter()
                .find(|line| line["method"] == "almanac/read")
                .unwrap();
            &call["params"]["_meta"][key]
        } else {
            &lines
                .iter()
                .find(|line| line["method"] == "initialize")
                .unwrap()["params"]["capabilities"]
        };
        assert_eq!(
            said[place][Almanac::ID],
            json!({"metric": true}),
            "{revision}"
        );
    }
}

// caching: hints exist since 2026-07-28.
#[tokio::test]
async fn results_are_those_of_the_revision() {
    let live = server(&Heard::default()).build().unwrap();
    for revision in EVERY {
        let (pipe, recorded) = record(&live);
        let server = client().only(revision).connect(pipe).await.unwrap();
        let almanac = server.extension::<Almanac>().unwrap();
        almanac.call::<AlmanacPublic>(&day("")).await.unwrap();
        let lines = recorded.lines();
        let result = &lines.last().unwrap().message["result"];
        assert_eq!(result["degrees"], 1.0);
        assert_eq!(
            result.get("ttlMs").is_some(),
            revision.is_modern(),
            "{revision}"
        );
        assert_eq!(
            result.get("resultType").is_some(),
            revision.is_modern(),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn notifications_go_both_ways() {
    for revision in EVERY {
        let heard = Heard::default();
        let live = server(&heard).build().unwrap();
        let told = Heard::default();
        let tell = Arc::clone(&told);
        let client = client()
            .only(revision)
            .on_notification(move |news: &ServerNotification| {
                let looked = news.notification::<Looked>();
                tell.lock().unwrap().extend(looked.map(|looked| looked.day));
            });
        let server = connect_with(&live, &client).await.unwrap();
        let almanac = server.extension::<Almanac>().unwrap();
        almanac.notify::<Looked>(&day("1999-01-01")).await.unwrap();
        // The server reads messages in order, so it has read the earlier ones when it answers this call.
        read_weather(&server).await.unwrap();
        assert_eq!(*heard.lock().unwrap(), ["1999-01-01"], "{revision}");
        assert_eq!(*told.lock().unwrap(), ["1816"], "{revision}");
    }
}

// rule: I1
// mrtr: only tools, prompts and resources may be answered with questions.
#[tokio::test]
async fn a_method_cannot_ask_where_the_protocol_does_not_let_it() {
    let live = server(&Heard::default()).build().unwrap();
    let server = connect_at(&live, Revision::V2026_07_28).await.unwrap();
    let almanac = server.extension::<Almanac>().unwrap();
    let error = almanac.call::<AlmanacAsk>(&day("")).await.unwrap_err();
    assert_eq!(error.rejection().unwrap().code, -32603);
}

#[tokio::test]
async fn layers_are_around_methods_too() {
    let seen = Heard::default();
    let see = Arc::clone(&seen);
    let layer = move |call: turnbuckle::Call<'static>, next: turnbuckle::Next| {
        let see = Arc::clone(&see);
        async move {
            let name = call.name().to_owned();
            let reply = next.run(call).await;
            if let Ok(Reply::Extension(reply)) = &reply {
                let degrees = &reply.members()["degrees"];
                see.lock().unwrap().push(format!("{name}: {degrees}"));
            }
            reply
        }
    };
    let live = server(&Heard::default()).layer(layer).build().unwrap();
    let server = connect_with(&live, &client()).await.unwrap();
    read_weather(&server).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["1816-07-04: 10.0"]);
}

#[test]
fn mistakes_are_found_at_start_up() {
    let problem = |extension: Extension| {
        let built = Server::new("s", "1").extension(extension).build();
        built.err().expect("the extension is wrong").to_string()
    };
    assert!(problem(Extension::new("almanac")).contains("needs a prefix"));
    let stateless = Extension::new("a/b").method(ExtensionMethod::new::<AlmanacRead, _>(read));
    assert!(problem(stateless).contains("State<f64>"));
    let core = Extension::new("a/b").method(ExtensionMethod::new::<Core, _>(public));
    assert!(problem(core).contains("is a method of the core protocol"));
    let twice = || ExtensionMethod::new::<AlmanacPublic, _>(public);
    let twice = Extension::new("a/b").method(twice()).method(twice());
    assert!(problem(twice).contains("duplicate method `almanac/public`"));
    let server = Server::new("s", "1")
        .extension(Extension::new("a/b"))
        .extension(Extension::new("a/b"));
    assert!(
        server
            .build()
            .err()
            .unwrap()
            .to_string()
            .contains("duplicate extension `a/b`")
    );
    let params = Tool::new("t", |_: Params<Day>| async { "" });
    let tool = Server::new("s", "1").tool(params).build();
    assert!(
        tool.err()
            .unwrap()
            .to_string()
            .contains("`Params` works only in methods of extensions")
    );
}

// streamable-http: `Mcp-Name` MUST equal the name in the body, if the method has one.
#[tokio::test]
async fn over_http_a_method_has_its_name_in_a_header() {
    let (tell, told) = oneshot::channel();
    let http = Http::bind("127.0.0.1:0").announce(|address| {
        let _ = tell.send(address);
    });
    let heard = Heard::default();
    let serving = tokio::spawn(server(&heard).serve(http));
    let address = told.await.unwrap().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let url = format!("http://{address}/mcp");
        let server = client().only(revision).connect(url.as_str()).await.unwrap();
        assert_eq!(
            read_weather(&server).await.unwrap(),
            Weather { degrees: 10.0 },
            "{revision}"
        );
        let almanac = server.extension::<Almanac>().unwrap();
        almanac.notify::<Looked>(&day("http")).await.unwrap();
        server.close().await;
    }
    let url = format!("http://{address}/mcp");
    let stranger = client()
        .only(Revision::V2026_07_28)
        .connect(url.as_str())
        .await
        .unwrap();
    let params = serde_json::value::to_raw_value(&day("1816-07-04")).unwrap();
    // A connection that never learned of the extension sends no name.
    let error = stranger
        .request_raw("almanac/read", Some(params))
        .await
        .unwrap_err();
    assert_eq!(error.rejection().unwrap().code, -32020, "{error}");
    serving.abort();
}
