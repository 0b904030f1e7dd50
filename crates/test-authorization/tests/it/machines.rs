//! Clients that act for themselves, and DPoP proofs.

use serde_json::json;
use turnbuckle_auth::jose::{JwkSet, SigningKey};
use turnbuckle_test_authorization::{AuthorizationServer, Fault};

use super::browser::{RESOURCE, claims, now, post, proof, token};

#[tokio::test]
async fn a_client_with_a_secret_or_a_key_acts_for_itself() {
    let key = SigningKey::generate().expect("a key");
    let server = AuthorizationServer::new()
        .client("robot", "s3cret", [""; 0])
        .client_with_keys("signer", JwkSet::new([key.public_key()]))
        .public_client("app", ["http://127.0.0.1/callback"]);
    let server = server.start().await.expect("it starts");
    let grant = [
        ("grant_type", "client_credentials"),
        ("resource", RESOURCE),
        ("scope", "a"),
    ];
    let basic = [("authorization", "Basic cm9ib3Q6czNjcmV0")];
    let answer = post(&server, "/token", &basic, &grant).await.json();
    let said = claims(answer["access_token"].as_str().expect("a token"));
    assert_eq!(
        (&said["sub"], &said["aud"]),
        (&"robot".into(), &RESOURCE.into())
    );
    assert!(answer["refresh_token"].is_null());

    let assert = |more: serde_json::Value| {
        let mut claims = json!({
            "iss": "signer", "sub": "signer", "aud": server.url(), "exp": now() + 60,
            "jti": format!("{:?}", std::time::Instant::now()),
        });
        for (name, value) in more.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        key.sign("JWT", &claims).expect("a token")
    };
    let with = async |assertion: &str| {
        let mut fields = grant.to_vec();
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        fields.push(("client_assertion_type", kind));
        fields.push(("client_assertion", assertion));
        token(&server, &fields).await
    };
    let good = assert(json!({}));
    assert_eq!(with(&good).await.status, 200);
    assert_eq!(
        with(&good).await.error(),
        "invalid_client",
        "it is used twice"
    );
    for more in [
        json!({ "aud": "https://other.example" }),
        json!({ "exp": now() - 1 }),
        json!({ "iss": "other" }),
        json!({ "sub": "robot" }),
        json!({ "jti": null }),
    ] {
        assert_eq!(
            with(&assert(more.clone())).await.error(),
            "invalid_client",
            "{more}"
        );
    }
    let mut public = grant.to_vec();
    public.push(("client_id", "app"));
    assert_eq!(token(&server, &public).await.error(), "unauthorized_client");
    assert_eq!(token(&server, &grant).await.error(), "invalid_client");
}

#[tokio::test]
async fn a_token_is_bound_to_the_key_that_is_proved() {
    let server = AuthorizationServer::new().client("robot", "s3cret", [""; 0]);
    let server = server.start().await.expect("it starts");
    let key = SigningKey::generate().expect("a key");
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", "robot"),
        ("client_secret", "s3cret"),
    ];
    let with = async |proof: &str| post(&server, "/token", &[("dpop", proof)], &fields).await;
    let good = proof(&server, &key, &json!({}));
    let answer = with(&good).await.json();
    assert_eq!(answer["token_type"], "DPoP");
    let said = claims(answer["access_token"].as_str().expect("a token"));
    assert_eq!(said["cnf"]["jkt"], key.public_key().thumbprint());
    assert_eq!(
        with(&good).await.error(),
        "invalid_dpop_proof",
        "it is used twice"
    );
    for more in [
        json!({ "htm": "GET" }),
        json!({ "htu": "https://other.example/token" }),
        json!({ "iat": now() - 3600 }),
        json!({ "jti": "" }),
    ] {
        let answer = with(&proof(&server, &key, &more)).await;
        assert_eq!(answer.error(), "invalid_dpop_proof", "{more}");
    }
    server.order(Fault::DemandNonce);
    let answer = with(&proof(&server, &key, &json!({}))).await;
    assert_eq!(
        (answer.status.as_u16(), answer.error()),
        (400, "use_dpop_nonce".into())
    );
    let nonce = answer.header("dpop-nonce").to_owned();
    let answer = with(&proof(&server, &key, &json!({ "nonce": nonce }))).await;
    assert_eq!(answer.status, 200);
    let answer = with(&proof(
        &server,
        &key,
        &json!({ "nonce": "of somebody else" }),
    ))
    .await;
    assert_eq!(answer.error(), "use_dpop_nonce");
}
