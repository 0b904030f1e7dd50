//! Every message that goes over the wire is shown, once.

use std::sync::{Arc, Mutex};

use turnbuckle_client::{Client, Direction};

use crate::http_site;

type Seen = Arc<Mutex<Vec<(Direction, String)>>>;

fn watched(client: Client) -> (Client, Seen) {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let client = client.on_wire(move |passing| {
        let message: serde_json::Value = serde_json::from_slice(passing.message).unwrap();
        let what = match message["method"].as_str() {
            Some(method) => method.to_owned(),
            None => format!("answer to {}", message["id"]),
        };
        log.lock().unwrap().push((passing.direction, what));
    });
    (client, seen)
}

#[tokio::test]
async fn what_goes_over_http_is_shown() {
    let site = http_site::modern(|heard, answer| {
        Box::pin(async move {
            let result = heard.result(http_site::text("hello"));
            answer.json(200, &result).await;
        })
    })
    .await;
    let (client, seen) = watched(http_site::plain());
    let server = client.connect(site.url()).await.unwrap();
    server.call("t", ()).await.unwrap();
    let seen = seen.lock().unwrap().clone();
    assert_eq!(
        seen.iter()
            .map(|(direction, what)| (*direction, what.as_str()))
            .collect::<Vec<_>>(),
        [
            (Direction::Out, "server/discover"),
            (Direction::In, "answer to 1"),
            (Direction::Out, "tools/call"),
            (Direction::In, "answer to 2"),
        ]
    );
}

#[tokio::test]
async fn what_goes_over_pipes_is_shown() {
    let (near, far) = turnbuckle_client::transport::duplex();
    let (client, seen) =
        watched(Client::new("t", "1").only(turnbuckle_client::protocol::Revision::V2025_11_25));
    let server = tokio::spawn(answer_initialize(far));
    let connection = client.connect(near).await.unwrap();
    connection.close().await;
    server.await.unwrap();
    let seen: Vec<_> = seen.lock().unwrap().clone();
    assert_eq!(
        seen.iter()
            .map(|(direction, what)| (*direction, what.as_str()))
            .collect::<Vec<_>>(),
        [
            (Direction::Out, "initialize"),
            (Direction::In, "answer to 1"),
            (Direction::Out, "notifications/initialized"),
        ]
    );
}

async fn answer_initialize(far: turnbuckle_client::transport::Duplex) {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let mut lines = BufReader::new(far.reader).lines();
    let mut writer = far.writer;
    while let Ok(Some(line)) = lines.next_line().await {
        if line.contains("\"initialize\"") {
            let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
            writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }
    }
}
