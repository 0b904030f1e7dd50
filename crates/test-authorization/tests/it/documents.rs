//! Metadata documents, keys and registration.

use serde_json::json;
use turnbuckle_auth::jose::{Algorithm, JwkSet, Jws};
use turnbuckle_test_authorization::{AuthorizationServer, Documents};

use super::browser::{get, post_json};

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

// rule: A21
#[tokio::test]
async fn documents_are_where_clients_look() {
    for (documents, path, present, absent) in [
        (
            Documents::Both,
            "",
            vec![OAUTH.into(), OPENID.into()],
            vec![],
        ),
        (
            Documents::OAuth,
            "",
            vec![OAUTH.into()],
            vec![OPENID.to_owned()],
        ),
        (
            Documents::Both,
            "/t",
            vec![
                format!("{OAUTH}/t"),
                format!("{OPENID}/t"),
                format!("/t{OPENID}"),
            ],
            vec![OAUTH.into(), OPENID.into()],
        ),
        (
            Documents::OpenId,
            "/t",
            vec![format!("/t{OPENID}")],
            vec![format!("{OAUTH}/t"), format!("{OPENID}/t")],
        ),
        (
            Documents::Neither,
            "",
            vec![],
            vec![OAUTH.into(), OPENID.into()],
        ),
    ] {
        let server = AuthorizationServer::new().documents(documents).path(path);
        let server = server.start().await.expect("it starts");
        for place in present {
            let answer = get(&format!("{}{place}", server.origin())).await;
            assert_eq!(answer.status, 200, "{place}");
            assert_eq!(answer.header("content-type"), "application/json");
            let document = answer.json();
            assert_eq!(document["issuer"], server.url());
            let token = format!("{}/token", server.url());
            assert_eq!(document["token_endpoint"], token);
            assert_eq!(
                document["code_challenge_methods_supported"],
                json!(["S256"])
            );
            // Authorization responses contain `iss` (see `codes.rs`), so the metadata announces it.
            let promise = &document["authorization_response_iss_parameter_supported"];
            assert_eq!(*promise, true);
        }
        for place in absent {
            let answer = get(&format!("{}{place}", server.origin())).await;
            assert_eq!(answer.status, 404, "{place}");
        }
    }
}

#[tokio::test]
async fn keys_rotate_and_the_last_one_is_still_there() {
    let server = AuthorizationServer::new().start().await.expect("it starts");
    let first = server.token("ann").mint();
    server.rotate_keys().expect("a key");
    let second = server.token("ann").mint();
    let keys = get(&format!("{}/jwks", server.url())).await.json();
    let keys = JwkSet::parse(&keys).expect("keys");
    let verify = |token: &str, keys: &JwkSet| {
        let token = Jws::parse(token).expect("a JWT");
        token.verify(keys, &Algorithm::ALL).is_ok()
    };
    assert!(verify(&first, &keys) && verify(&second, &keys));
    server.rotate_keys().expect("a key");
    assert!(!verify(&first, &server.keys()) && verify(&second, &server.keys()));
}

#[tokio::test]
async fn clients_register_with_what_is_safe() {
    let server = AuthorizationServer::new().start().await.expect("it starts");
    let url = format!("{}/register", server.url());
    let public = json!({
        "redirect_uris": ["http://127.0.0.1/callback"], "application_type": "native",
        "token_endpoint_auth_method": "none", "client_name": "t",
    });
    let answer = post_json(&url, &public).await;
    assert_eq!(answer.status, 201);
    assert!(answer.json()["client_id"].is_string() && answer.json()["client_secret"].is_null());
    let secret = post_json(&url, &json!({ "redirect_uris": ["https://a.example/b"] })).await;
    assert!(secret.json()["client_secret"].is_string());
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!([]), "invalid_client_metadata"),
        (
            json!({ "redirect_uris": ["http://a.example/b"] }),
            "invalid_redirect_uri",
        ),
        (
            json!({ "redirect_uris": ["http://localhost/b"], "application_type": "web" }),
            "invalid_redirect_uri",
        ),
        (
            json!({ "redirect_uris": ["https://a.example/b"], "application_type": "x" }),
            "invalid_client_metadata",
        ),
    ] {
        let answer = post_json(&url, &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error()),
            (400, error.to_owned()),
            "{body}"
        );
    }
    let closed = AuthorizationServer::new()
        .closed()
        .start()
        .await
        .expect("it starts");
    let url = format!("{}/register", closed.url());
    assert_eq!(post_json(&url, &public).await.status, 404);
}
