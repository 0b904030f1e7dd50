//! The server examples, with our client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use turnbuckle::{
    client::{CallError, Client, Connection, Era, ServerNotification, Started},
    protocol::{CompleteRequestParams, ErrorObject, Reference, ResourceContents},
};

use crate::{
    SERVERS,
    program::{connect, connect_as},
};

async fn text(server: &Connection, tool: &str, arguments: Value) -> String {
    server
        .call(tool, arguments)
        .await
        .expect("the tool is called")
        .text()
}

#[tokio::test]
async fn app_has_a_page_for_hosts_and_text_for_all() {
    use turnbuckle::apps::{Ui, UiClient, host};

    let plain = connect("app").await;
    let said = text(&plain, "sky", json!({ "city": "Bath" })).await;
    assert_eq!(
        said,
        "The sky over Bath is grey, with a little sun to come."
    );
    let client = Client::new("host", "1.0.0").declare::<Ui>(&UiClient::default());
    let server = connect_as(&client, "app").await;
    assert_eq!(
        text(&server, "sky", json!({ "city": "Bath" })).await,
        "☁ Bath"
    );
    let tools = server.tools().await.expect("tools are listed");
    let for_model: Vec<_> = tools
        .iter()
        .filter(|tool| host::is_for_model(tool))
        .collect();
    assert_eq!(for_model.len(), 1);
    let view = host::open(&server, for_model[0])
        .await
        .expect("the page is good");
    let view = view.expect("the tool has a page");
    assert!(view.html().contains("ui/initialize"));
    assert!(view.policy().to_string().contains("connect-src 'none'"));
}

#[tokio::test]
async fn every_server_answers_in_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let client = Client::new("test", "1.0.0").only_era(era);
        for name in SERVERS {
            let server = connect_as(&client, name).await;
            assert_eq!(
                server.server().revision().is_modern(),
                era == Era::Modern,
                "{name}"
            );
            server.ping().await.expect("it is there");
            server.close().await;
        }
    }
}

#[tokio::test]
async fn hello_greets() {
    let server = connect("hello").await;
    assert_eq!(
        text(&server, "greet", json!({ "name": "Ada" })).await,
        "Hello, Ada!"
    );
}

#[tokio::test]
async fn arguments_are_read_and_explained() {
    let server = connect("arguments").await;
    let destination = json!({ "to": "table", "number": 4 });
    let order = json!({ "toppings": ["ham", "egg"], "destination": destination, "cut": "whole" });
    assert_eq!(
        text(&server, "order", order).await,
        "32 cm with ham and egg, whole, to table 4"
    );
    let wrong = json!({ "toppings": [], "destination": destination, "diameter": 70 });
    let explained = text(&server, "order", wrong).await;
    assert!(
        explained.contains("diameter") && explained.contains("50"),
        "{explained}"
    );
}

#[tokio::test]
async fn structured_output_has_a_schema() {
    let server = connect("structured").await;
    let tools = server.tools().await.expect("tools are listed");
    let schema = tools[0]
        .output_schema
        .as_ref()
        .expect("it has an output schema");
    assert_eq!(
        schema["properties"]["words"]["description"],
        "How many words it has."
    );
    let output = server
        .call("count_words", json!({ "text": "" }))
        .await
        .expect("it is called");
    assert_eq!(
        output.parse::<Value>().unwrap(),
        json!({ "words": 0, "longest": null })
    );
}

#[tokio::test]
async fn errors_are_of_several_kinds() {
    let server = connect("errors").await;
    let divide = json!({ "dividend": 1, "divisor": 0 });
    assert_eq!(
        text(&server, "divide", divide).await,
        "the divisor must not be zero"
    );
    let parsed = server
        .call("parse", json!({ "text": "x" }))
        .await
        .expect("it is called");
    assert!(
        parsed.is_error() && parsed.text().contains("invalid digit"),
        "{}",
        parsed.text()
    );
    let seats = text(&server, "seats", json!({ "row": 41 })).await;
    assert_eq!(seats, "there is no row 41: rows go up to 40");
    let secret = server.call("secret", ()).await.expect_err("it is refused");
    assert_eq!(secret.rejection().map(|error| error.code), Some(-31_403));
    let load = server.call("load", ()).await.expect_err("it breaks");
    let message = &load.rejection().expect("the server says so").message;
    assert!(
        message.contains("fault") && !message.contains("file"),
        "{message}"
    );
}

#[tokio::test]
async fn notes_are_listed_completed_and_told_of() {
    use turnbuckle::client::{Change, Listen};

    let server = connect("notes").await;
    assert!(server.resources().await.expect("a list").is_empty());
    let mut changes = server
        .listen(Listen::new().resources().resource("note://milk"))
        .await
        .expect("it can be listened to");
    for (title, note, updated) in [
        ("milk", "two litres", None),
        ("bread", "one loaf", None),
        ("milk", "three litres", Some("note://milk")),
    ] {
        let write = json!({ "title": title, "text": note });
        assert_eq!(text(&server, "write", write).await, "written");
        let told = changes.next().await.expect("the stream is open");
        let told = told.expect("it is understood");
        let told = match told {
            Change::ResourcesChanged => None,
            Change::ResourceUpdated { uri, .. } => Some(uri),
            other => panic!("{other:?}"),
        };
        assert_eq!(told.as_deref(), updated);
    }
    let listed = server.resources().await.expect("a list");
    let uris: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
    assert_eq!(uris, ["note://bread", "note://milk"]);
    assert_eq!(read(&server, "note://milk").await, "three litres");
    let template = Reference::resource("note://{title}");
    let title = CompleteRequestParams::new(template, "title", "mlik");
    let completed = server.complete_with(title).await.expect("it completes");
    assert_eq!(completed.values, ["milk"]);
}

#[tokio::test]
async fn state_is_shared() {
    let server = connect("state").await;
    let note = json!({ "title": "a", "text": "b" });
    assert_eq!(text(&server, "remember", note).await, "1 notes");
    assert_eq!(text(&server, "recall", json!({ "title": "a" })).await, "b");
    let missing = text(&server, "recall", json!({ "title": "c" })).await;
    assert_eq!(missing, "there is no note `c`");
}

#[tokio::test]
async fn methods_share_their_state() {
    let server = connect("methods").await;
    assert_eq!(text(&server, "deposit", json!({ "amount": 5 })).await, "5");
    assert_eq!(read(&server, "account://balance").await, "5");
    let prompt = server.get("advise", ()).await.expect("the prompt is there");
    let message = prompt.messages[0].content.as_text();
    assert!(
        message.is_some_and(|text| text.contains("5 coins")),
        "{message:?}"
    );
}

#[tokio::test]
async fn an_extractor_takes_from_the_call() {
    let server = connect("extractor").await;
    let hello = |language: &'static str| {
        server
            .call("hello", ())
            .meta("example.com/language", language)
    };
    assert_eq!(text(&server, "hello", json!({})).await, "Hello!");
    assert_eq!(hello("fr").await.unwrap().text(), "Bonjour !");
    let refused = hello("german").await.expect_err("it is refused");
    assert_eq!(refused.rejection().map(|error| error.code), Some(-32_602));
}

#[tokio::test]
async fn progress_is_reported_and_work_is_cancelled() {
    let server = connect("progress").await;
    let mut said = Vec::new();
    let call = server.call("boil", json!({ "eggs": 2 }));
    call.progress(|report| said.extend(report.message))
        .await
        .expect("they are boiled");
    assert_eq!(said, ["egg 1 is done", "egg 2 is done"]);
    assert_eq!(
        text(&server, "primes", json!({ "below": 30 })).await,
        "10 primes"
    );
    let endless = server.call("primes", json!({ "below": u64::MAX }));
    let late = endless.deadline(Duration::from_millis(100)).await;
    assert!(matches!(late, Err(CallError::Deadline { .. })), "{late:?}");
    // The counting thread would keep the process from ending if it were not cancelled.
    let start = Instant::now();
    server.close().await;
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "it took {:?}",
        start.elapsed()
    );
}

async fn read(server: &Connection, uri: &str) -> String {
    let result = server.read(uri).await.expect("the resource is read");
    match result.contents.into_iter().next() {
        Some(ResourceContents::Text(contents)) => contents.text,
        other => panic!("{uri} is not text: {other:?}"),
    }
}

#[tokio::test]
async fn resources_are_read_by_uri_and_template() {
    let server = connect("resources").await;
    assert_eq!(
        read(&server, "space://planets").await,
        "mercury\nvenus\nearth"
    );
    let earth = r#"{"name":"earth","kilometres":12756}"#;
    assert_eq!(read(&server, "space://planets/earth").await, earth);
    assert_eq!(
        read(&server, "space://archive/a/b?page=2").await,
        "page 2 of a/b"
    );
    for uri in ["space://planets/pluto", "space://archive/a/../b"] {
        let error = server.read(uri).await.expect_err("it does not exist");
        assert!(
            error
                .rejection()
                .is_some_and(ErrorObject::is_resource_not_found),
            "{error}"
        );
    }
    let picture = server.read("space://picture").await.expect("it is read");
    assert!(
        matches!(&picture.contents[..], [ResourceContents::Blob(_)]),
        "{picture:?}"
    );
}

#[tokio::test]
async fn prompts_complete_their_arguments() {
    let server = connect("prompts").await;
    let letter = || Reference::prompt("letter");
    let countries = server
        .complete(letter(), "country", "Ch")
        .await
        .unwrap()
        .values;
    assert_eq!(countries, ["Chile", "China"]);
    let tones = server
        .complete(letter(), "tone", "fo")
        .await
        .unwrap()
        .values;
    assert_eq!(tones, ["formal"]);
    let city = CompleteRequestParams::new(letter(), "city", "").with_known("country", "France");
    assert_eq!(
        server.complete_with(city).await.unwrap().values,
        ["Lyon", "Paris"]
    );
    let arguments = json!({ "country": "Chile", "city": "Arica", "tone": "formal" });
    let prompt = server.get("letter", arguments).await.expect("it is there");
    let message = prompt.messages[0].content.as_text();
    assert_eq!(
        message,
        Some("Write a formal letter to a stranger in Arica, Chile.")
    );
}

#[tokio::test]
async fn layers_wrap_calls() {
    let server = connect("layers").await;
    assert_eq!(text(&server, "spend", json!({})).await, "Ada has 2 left");
    let refused = server
        .call("spend_without_account", ())
        .await
        .expect_err("it is refused");
    assert_eq!(refused.rejection().map(|error| error.code), Some(-32_600));
    let ending = server.close().await;
    assert!(
        ending
            .stderr
            .iter()
            .any(|line| line.starts_with("spend took ")),
        "{ending:?}"
    );
}

#[tokio::test]
async fn a_learnt_tool_is_announced() {
    let server = connect_as(
        &Client::new("test", "1.0.0").only_era(Era::Legacy),
        "dynamic_tools",
    )
    .await;
    let mut news = server.notifications();
    let learn = json!({ "name": "moo", "phrase": "Moo." });
    assert_eq!(text(&server, "learn", learn).await, "`moo` is learnt");
    let heard = tokio::time::timeout(Duration::from_secs(10), news.next()).await;
    assert!(
        matches!(heard, Ok(Some(ServerNotification::ToolsChanged))),
        "{heard:?}"
    );
    assert_eq!(text(&server, "moo", json!({})).await, "Moo.");
    assert_eq!(
        text(&server, "forget", json!({ "name": "moo" })).await,
        "`moo` is forgotten"
    );
    assert!(server.call("moo", ()).await.is_err());
}

#[tokio::test]
async fn by_hand_serves_the_same() {
    let server = connect("by_hand").await;
    assert_eq!(
        text(&server, "fahrenheit", json!({ "degrees": 20 })).await,
        "68.0"
    );
    assert_eq!(
        text(&server, "forward", json!({ "a": 1.5 })).await,
        r#"{"a":1.5}"#
    );
    assert_eq!(text(&server, "dice", json!({})).await, "4");
    assert_eq!(read(&server, "climate://Lima").await, "mild in Lima");
    let cities = server
        .complete(Reference::prompt("packing"), "city", "li")
        .await
        .unwrap();
    assert_eq!(cities.values, ["Lima", "Lisbon"]);
}

#[tokio::test]
async fn a_long_build_is_a_task() {
    let server = connect("long_build").await;
    assert_eq!(
        text(&server, "build", json!({ "part": "parser" })).await,
        "built parser"
    );
    let refused = server.call("build", json!({ "part": "roof" })).task().await;
    let Started::Done(refused) = refused.expect("it is answered") else {
        panic!("a mistake is answered at once")
    };
    assert_eq!(refused.text(), "there is no part `roof`");
    let started = server.call("build", ()).task().await.expect("it starts");
    let Started::Task(mut task) = started else {
        panic!("a build is a task")
    };
    let mut statuses = task.statuses();
    let mut said = Vec::new();
    while let Some(status) = statuses.next().await {
        said.extend(status.expect("it is there").status_message);
    }
    assert!(
        said.iter().any(|said| said.starts_with("built ")),
        "{said:?}"
    );
    let output = task.result().await.expect("it is built");
    assert_eq!(output.text(), "built parser, planner, printer");
}
