//! Every kind of question, in every cell.

use serde_json::json;
use turnbuckle_client::{Client, Era};

use crate::site::{Door, Way, cells, gateway, join};

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

// G8: what the client did not declare is refused upstream and never shown.
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
