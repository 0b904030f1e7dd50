//! Issuers that are asked about each token by introspection.

use turnbuckle_auth::server::Issuer;
use turnbuckle_test_authorization::{AuthorizationServer, Endpoint, Fault, Tokens};

use super::site::Site;

async fn site(secret: &str) -> Site {
    let issuer =
        AuthorizationServer::new()
            .tokens(Tokens::Opaque)
            .client("notes", "s3cret / +", [""; 0]);
    let issuer = issuer.start().await.expect("it starts");
    let trusted = Issuer::new(issuer.url()).introspect("notes", secret);
    Site::of(issuer, trusted, |guard| guard).await
}

#[tokio::test]
async fn an_opaque_token_is_asked_about_and_remembered_for_a_while() {
    let site = site("s3cret / +").await;
    let token = site.token().scopes(["a"]).mint();
    for _ in 0..5 {
        let caller = site.call("whoami", &token).await.caller();
        assert_eq!(caller["identity"]["subject"], "ann");
        assert_eq!(caller["scopes"][0], "a");
    }
    assert_eq!(site.asked("/introspect"), 1);
    site.pass(31);
    assert_eq!(site.call("whoami", &token).await.status, 200);
    assert_eq!(site.asked("/introspect"), 2);
}

#[tokio::test]
async fn what_the_issuer_says_is_held_to_the_same_rules() {
    let site = site("s3cret / +").await;
    for (why, token) in [
        ("revoked", "unknown".to_owned()),
        ("revoked", site.token().expired().mint()),
        (
            "another audience",
            site.token().audience("https://other.example").mint(),
        ),
        (
            "no audience",
            site.token().claim("aud", serde_json::Value::Null).mint(),
        ),
        (
            "another issuer",
            site.token().claim("iss", "https://other.example").mint(),
        ),
    ] {
        site.call("whoami", &token).await.is_refused(401, why);
        let asked = site.asked("/introspect");
        site.call("whoami", &token).await.is_refused(401, why);
        assert_eq!(
            site.asked("/introspect"),
            asked,
            "a refusal is remembered too"
        );
    }
}

#[tokio::test]
async fn a_revoked_token_ends_with_what_is_remembered() {
    let site = site("s3cret / +").await;
    let token = site.token().mint();
    assert_eq!(site.call("whoami", &token).await.status, 200);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!("token={token}&client_id=notes&client_secret=s3cret+%2F+%2B");
    let url = format!("{}/revoke", site.issuer.url());
    let answer = site.send(http::Method::POST, &url, &form, body).await;
    assert_eq!(answer.status, 200);
    site.pass(31);
    site.call("whoami", &token).await.is_refused(401, "revoked");
}

#[tokio::test]
async fn an_unreachable_issuer_means_the_token_is_refused() {
    let wrong = site("wrong").await;
    let token = wrong.token().mint();
    wrong
        .call("whoami", &token)
        .await
        .is_refused(503, "at the moment");
    let site = site("s3cret / +").await;
    for fault in [
        Fault::Status(Endpoint::Introspect, 500),
        Fault::Garbage(Endpoint::Introspect),
        Fault::Status(Endpoint::Introspect, 302),
    ] {
        site.issuer.order_once(fault);
        let token = site.token().mint();
        site.call("whoami", &token)
            .await
            .is_refused(503, "at the moment");
        assert_eq!(site.call("whoami", &token).await.status, 200);
    }
}

#[tokio::test]
async fn garbage_costs_the_issuer_a_few_questions_and_known_callers_nothing() {
    let issuer = AuthorizationServer::new()
        .tokens(Tokens::Opaque)
        .client("notes", "s3cret", [""; 0]);
    let issuer = issuer.start().await.expect("it starts");
    let trusted = Issuer::new(issuer.url()).introspect("notes", "s3cret");
    let site = Site::of(issuer, trusted, |guard| guard.unknown_tokens(3)).await;
    let known = site.token().mint();
    assert_eq!(site.call("whoami", &known).await.status, 200);
    let asked = site.asked("/introspect");
    for number in 0..20 {
        let answer = site.call("whoami", &format!("garbage-{number}")).await;
        assert_eq!(answer.status, if number < 3 { 401 } else { 429 });
        if number >= 3 {
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(text.contains("unknown_tokens"), "{text}");
        }
    }
    assert_eq!(site.asked("/introspect"), asked + 3);
    assert_eq!(site.call("whoami", &known).await.status, 200);
    site.pass(61);
    let fresh = site.token().mint();
    assert_eq!(site.call("whoami", &fresh).await.status, 200);
}
