//! Every kind of question, in every combination of eras.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_client::{Client, Era, Refusal, protocol::ElicitResult};

use crate::{
    raw_site,
    site::{Door, Way, cells, gateway, join},
};

#[tokio::test]
async fn every_cell_asks_every_kind_of_question() {
    for cell in cells() {
        let (client, gateway) = cell.open().await;
        for (tool, answer) in [
            ("form", "accepted"),
            ("joined", "accepted and accepted"),
            ("twice", "accepted and accepted"),
            ("visit", "accepted"),
            ("sample", "Paris"),
            ("roots", "file:///home/ada"),
        ] {
            let called = client.call(tool, json!({})).await;
            let called = called.unwrap_or_else(|error| panic!("{cell:?} {tool}: {error}"));
            assert_eq!(called.text(), answer, "{cell:?} {tool}");
        }
        assert_eq!(gateway.parked(), 0, "{cell:?}");
        gateway.close().await;
    }
}

// G8: a question that the client did not declare is refused at the server and never shown.
#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    for era in [Era::Legacy, Era::Modern] {
        for upstream in [Era::Legacy, Era::Modern] {
            for way in [Way::Http, Way::Stdio] {
                let gateway = gateway(way, upstream).await;
                let client = Client::new("plain", "1.0.0").only_era(era);
                let client = join(&client, &gateway, Door::Lines).await;
                for tool in ["form", "sample", "roots"] {
                    let called = client.call(tool, json!({})).await;
                    let failed = match called {
                        Err(_) => true,
                        Ok(output) => output.into_result().is_error == Some(true),
                    };
                    assert!(failed, "{era:?} {upstream:?} {way:?} {tool}");
                }
                gateway.close().await;
            }
        }
    }
}

/// The error that a server gets if it asks a client of the gateway this question.
async fn refused(client: &Client, method: &str, params: Value) -> (i64, String) {
    let gateway = raw_site::shared(Duration::from_mins(1)).await;
    let client = join(client, &gateway, Door::Lines).await;
    let asked = json!({ "method": method, "params": params });
    let output = client.call("pass", asked).await.expect("an answer");
    let heard: Value = serde_json::from_str(&output.text()).expect("an answer");
    gateway.close().await;
    let message = heard["error"]["message"].as_str().unwrap_or_default();
    (
        heard["error"]["code"].as_i64().unwrap_or_default(),
        message.to_owned(),
    )
}

// rule: V5
#[tokio::test]
async fn a_client_of_the_gateway_refuses_with_the_codes_and_words_of_a_client() {
    let form =
        || json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
    let url = || json!({ "mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "1" });
    let tools = || json!({ "messages": [], "maxTokens": 1, "tools": [] });
    for era in [Era::Legacy, Era::Modern] {
        let nothing = || Client::new("plain", "1.0.0").only_era(era);
        for (method, params) in [
            ("elicitation/create", form()),
            ("elicitation/create", url()),
            ("elicitation/create", json!({ "message": 7 })),
            ("sampling/createMessage", tools()),
            ("roots/list", json!({})),
        ] {
            let (code, message) = refused(&nothing(), method, params).await;
            assert_eq!(code, -32601, "{era:?} {method}: {message}");
        }
        let forms = nothing().on_form(|_| async { Ok(ElicitResult::decline()) });
        let (code, message) = refused(&forms, "elicitation/create", url()).await;
        assert_eq!(code, -32602, "{era:?}");
        assert_eq!(message, "this client does not offer visits to URLs");
        let samples = nothing().on_sample(|_| async { Err(Refusal::Declined) });
        let (code, message) = refused(&samples, "sampling/createMessage", tools()).await;
        assert_eq!(code, -32602, "{era:?}");
        assert_eq!(message, "this client does not offer tools for the model");
    }
}
