//! Ordered faults, which occur only when they are ordered.

use std::time::{Duration, Instant};

use turnbuckle_test_authorization::{
    AuthorizationServer, Endpoint, Fault, LiveAuthorizationServer,
};

use super::browser::{RESOURCE, authorize, claims, get, now, token};

async fn server() -> LiveAuthorizationServer {
    let server = AuthorizationServer::new()
        .public_client("app", ["http://127.0.0.1/callback"])
        .client("robot", "s3cret", [""; 0]);
    server.start().await.expect("it starts")
}

async fn issued(server: &LiveAuthorizationServer) -> serde_json::Value {
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", "robot"),
        ("client_secret", "s3cret"),
        ("resource", RESOURCE),
        ("scope", "a"),
    ];
    let answer = token(server, &fields).await.json();
    claims(answer["access_token"].as_str().expect("a token"))
}

#[tokio::test]
async fn documents_lie() {
    let server = server().await;
    let url = format!("{}/.well-known/oauth-authorization-server", server.url());
    server.order_once(Fault::MetadataIssuer("https://other.example".into()));
    assert_eq!(get(&url).await.json()["issuer"], "https://other.example");
    server.order(Fault::NoPkceInMetadata);
    server.order(Fault::NoIssInMetadata);
    let document = get(&url).await.json();
    assert_eq!(document["issuer"], server.url(), "that was for once");
    assert!(document["code_challenge_methods_supported"].is_null());
    assert!(document["authorization_response_iss_parameter_supported"].is_null());
    server.clear();
    assert!(get(&url).await.json()["code_challenge_methods_supported"].is_array());
}

#[tokio::test]
async fn people_come_back_with_something_else() {
    let server = server().await;
    let back = async |fault| {
        server.order_once(fault);
        authorize(&server, "app", &[]).await
    };
    let wrong = Fault::WrongIss("https://other.example".into());
    assert_eq!(
        back(wrong).await.parameter("iss").as_deref(),
        Some("https://other.example")
    );
    assert_eq!(back(Fault::MissingIss).await.parameter("iss"), None);
    assert_ne!(
        back(Fault::WrongState).await.parameter("state").as_deref(),
        Some("xyz")
    );
    let denied = back(Fault::Denied).await;
    assert_eq!(denied.parameter("error").as_deref(), Some("access_denied"));
    let fine = authorize(&server, "app", &[]).await;
    assert_eq!(fine.parameter("iss").as_deref(), Some(server.url()));
}

#[tokio::test]
async fn tokens_are_not_good() {
    let server = server().await;
    let said = async |fault| {
        server.order_once(fault);
        issued(&server).await
    };
    assert!(said(Fault::ExpiredTokens).await["exp"].as_u64() < Some(now()));
    let other = "https://other.example".to_owned();
    assert_eq!(
        said(Fault::WrongAudience(other.clone())).await["aud"],
        other
    );
    assert_eq!(
        said(Fault::WrongTokenIssuer(other.clone())).await["iss"],
        other
    );
    assert!(said(Fault::NoScopes).await["scope"].is_null());
    let fine = issued(&server).await;
    assert_eq!(
        (&fine["aud"], &fine["scope"]),
        (&RESOURCE.into(), &"a".into())
    );
}

#[tokio::test]
async fn places_fail() {
    let server = server().await;
    let url = format!("{}/jwks", server.url());
    server.order_once(Fault::Status(Endpoint::Keys, 503));
    assert_eq!(get(&url).await.status, 503);
    server.order_once(Fault::Garbage(Endpoint::Keys));
    let garbage = get(&url).await.body;
    assert!(serde_json::from_slice::<serde_json::Value>(&garbage).is_err());
    server.order_once(Fault::Slow(Endpoint::Keys, Duration::from_millis(60)));
    let start = Instant::now();
    get(&url).await.json();
    assert!(start.elapsed() >= Duration::from_millis(60));
    let log = server.requests();
    assert_eq!(log, ["GET /jwks", "GET /jwks", "GET /jwks"]);
}
