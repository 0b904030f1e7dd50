//! Codes, PKCE and refresh tokens.

use serde_json::Value;
use turnbuckle_test_authorization::{AuthorizationServer, LiveAuthorizationServer};

use super::browser::{Answer, CALLBACK, RESOURCE, VERIFIER, authorize, claims, code, post, token};

async fn server() -> LiveAuthorizationServer {
    let server = AuthorizationServer::new()
        .subject("ann")
        .public_client("app", ["http://127.0.0.1/callback"])
        .client("web", "s3cret", [CALLBACK]);
    server.start().await.expect("it starts")
}

async fn redeem(server: &LiveAuthorizationServer, code: &str, more: &[(&str, &str)]) -> Answer {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", "app"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
    ];
    fields.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    fields.extend(more.iter().filter(|(_, value)| !value.is_empty()));
    token(server, &fields).await
}

#[tokio::test]
async fn a_code_becomes_tokens_for_the_resource() {
    let server = server().await;
    let answer = authorize(&server, "app", &[]).await;
    assert_eq!(answer.status, 302);
    assert_eq!(answer.parameter("state").as_deref(), Some("xyz"));
    assert_eq!(answer.parameter("iss").as_deref(), Some(server.url()));
    let code = answer.parameter("code").expect("a code");
    let answer = redeem(&server, &code, &[]).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("cache-control")),
        (200, "no-store")
    );
    let body = answer.json();
    assert_eq!(
        (&body["token_type"], &body["scope"]),
        (&"Bearer".into(), &"a b".into())
    );
    let claims = claims(body["access_token"].as_str().expect("a token"));
    let expected = [
        ("sub", "ann"),
        ("aud", RESOURCE),
        ("scope", "a b"),
        ("client_id", "app"),
    ];
    for (name, value) in expected {
        assert_eq!(claims[name], value);
    }
}

#[tokio::test]
async fn a_code_is_for_one_client_one_proof_and_one_time() {
    let server = server().await;
    for (more, error) in [
        (
            &[("code_verifier", "another one, as long as the first one was")][..],
            "invalid_grant",
        ),
        (&[("code_verifier", "")], "invalid_request"),
        (
            &[("redirect_uri", "http://127.0.0.1:7777/other")],
            "invalid_grant",
        ),
        (
            &[("resource", "http://127.0.0.1:1/other")],
            "invalid_target",
        ),
        (&[("client_id", "")], "invalid_client"),
        (
            &[("client_id", "web"), ("client_secret", "s3cret")],
            "invalid_grant",
        ),
        (
            &[("client_id", "web"), ("client_secret", "wrong")],
            "invalid_client",
        ),
        (&[("client_id", "web")], "invalid_client"),
        (&[("client_id", "nobody")], "invalid_client"),
        (&[("code", "unknown")], "invalid_grant"),
        (&[("grant_type", "password")], "unsupported_grant_type"),
    ] {
        let code = code(&server, "app").await;
        let answer = redeem(&server, &code, more).await;
        assert_eq!(answer.error(), error, "{more:?}");
    }
    let code = code(&server, "app").await;
    assert_eq!(redeem(&server, &code, &[]).await.status, 200);
    assert_eq!(redeem(&server, &code, &[]).await.error(), "invalid_grant");
}

// rule: A21
#[tokio::test]
async fn an_unregistered_redirect_is_refused() {
    let server = server().await;
    for more in [
        ("redirect_uri", "https://evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:7777/other"),
        ("client_id", "nobody"),
    ] {
        let answer = authorize(&server, "app", &[more]).await;
        assert!(answer.status.is_client_error(), "{more:?}");
        assert_eq!(answer.header("location"), "");
    }
    for (more, error) in [
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("response_type", "token"), "unsupported_response_type"),
        (("resource", "https://a.example/#x"), "invalid_target"),
    ] {
        let answer = authorize(&server, "app", &[more]).await;
        assert_eq!(
            answer.parameter("error").as_deref(),
            Some(error),
            "{more:?}"
        );
        assert_eq!(answer.parameter("iss").as_deref(), Some(server.url()));
    }
}

// rule: A21
#[tokio::test]
async fn a_refresh_token_is_good_once_and_its_thief_ends_it_all() {
    let server = server().await;
    let code = code(&server, "app").await;
    let first = redeem(&server, &code, &[]).await.json();
    let refresh = async |token: &Value, scope: &str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.as_str().expect("a token")),
            ("client_id", "app"),
            ("scope", scope),
        ];
        super::browser::token(&server, &fields).await
    };
    let second = refresh(&first["refresh_token"], "a").await.json();
    assert_eq!(second["scope"], "a");
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    let more = refresh(&second["refresh_token"], "a b c").await;
    assert_eq!(more.error(), "invalid_scope");
    let stolen = refresh(&first["refresh_token"], "").await;
    assert_eq!(stolen.error(), "invalid_grant");
    let gone = refresh(&second["refresh_token"], "").await;
    assert_eq!(gone.error(), "invalid_grant");
}

#[tokio::test]
async fn what_is_given_back_is_gone() {
    let server = server().await;
    let code = code(&server, "app").await;
    let tokens = redeem(&server, &code, &[]).await.json();
    let access = tokens["access_token"].as_str().expect("a token");
    let basic = [("authorization", "Basic d2ViOnMzY3JldA==")];
    let active = async || {
        let answer = post(&server, "/introspect", &basic, &[("token", access)]).await;
        answer.json()["active"].clone()
    };
    assert_eq!(active().await, true);
    let nobody = post(&server, "/introspect", &[], &[("token", access)]).await;
    assert_eq!(nobody.status, 401);
    let revoke = [("token", access), ("client_id", "app")];
    assert_eq!(post(&server, "/revoke", &[], &revoke).await.status, 200);
    assert_eq!(active().await, false);
    let refresh = tokens["refresh_token"].as_str().expect("a token");
    let revoke = [("token", refresh), ("client_id", "app")];
    assert_eq!(post(&server, "/revoke", &[], &revoke).await.status, 200);
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh),
        ("client_id", "app"),
    ];
    assert_eq!(token(&server, &fields).await.error(), "invalid_grant");
}
