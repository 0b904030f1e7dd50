//! Clients whose id is the URL of a document about them.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use turnbuckle_test_authorization::AuthorizationServer;

use super::browser::{CALLBACK, RESOURCE, VERIFIER, authorize, claims, token};

/// Serves a client metadata document, and returns its URL.
async fn publish(document: impl Fn(SocketAddr) -> Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let body = document(address).to_string();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n"
            );
            let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    format!("http://{address}/client.json")
}

fn about(address: SocketAddr) -> Value {
    json!({
        "client_id": format!("http://{address}/client.json"), "client_name": "t",
        "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none",
    })
}

// A17: the document's `client_id` MUST be its URL, and the redirect URI MUST be one of those in it.
#[tokio::test]
async fn a_client_is_what_its_document_says() {
    let server = AuthorizationServer::new().start().await.expect("it starts");
    let client = publish(about).await;
    let answer = authorize(&server, &client, &[]).await;
    let code = answer.parameter("code").expect("a code");
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("client_id", &client),
        ("code_verifier", VERIFIER),
    ];
    let tokens = token(&server, &fields).await.json();
    let said = claims(tokens["access_token"].as_str().expect("a token"));
    assert_eq!(
        (said["client_id"].as_str(), said["aud"].as_str()),
        (Some(&*client), Some(RESOURCE))
    );
    let elsewhere = [("redirect_uri", "http://127.0.0.1:7777/other")];
    let refused = authorize(&server, &client, &elsewhere).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("location")),
        (400, "")
    );
}

// rule: A17
#[tokio::test]
async fn a_document_that_is_not_the_clients_is_refused() {
    let server = AuthorizationServer::new().start().await.expect("it starts");
    let broken: [fn(&mut Value); 4] = [
        |document| document["client_id"] = json!("https://other.example/client.json"),
        |document| document["client_name"] = Value::Null,
        |document| document["redirect_uris"] = Value::Null,
        |document| document["client_name"] = json!("x".repeat(6000)),
    ];
    for (number, breaks) in broken.into_iter().enumerate() {
        let client = publish(|address| {
            let mut document = about(address);
            breaks(&mut document);
            document
        });
        let answer = authorize(&server, &client.await, &[]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error()),
            (401, "invalid_client".into()),
            "{number}"
        );
    }
    for unknown in [
        "http://127.0.0.1:9/client.json",
        "http://127.0.0.1:9/",
        "nobody",
    ] {
        let answer = authorize(&server, unknown, &[]).await;
        assert_eq!(answer.error(), "invalid_client", "{unknown}");
    }
}
