//! Grants without a user: secrets, keys, a company's sign-on, a platform's assertion; and bound tokens.

use std::path::PathBuf;

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use turnbuckle_auth::Secret;
use turnbuckle_auth::client::{AssertionFile, Dpop, Enterprise, OAuth, Registered, Step};
use turnbuckle_auth::jose::{Algorithm, JwkSet, Jws, SigningKey, digest};

use super::world::{Answer, Seen, World, oauth};

/// The header and the claims of a token, without verification.
fn claims(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| {
        let text = base64::Engine::decode(&URL_SAFE_NO_PAD, part).unwrap();
        serde_json::from_slice(&text).unwrap()
    });
    (parts.next().unwrap(), parts.next().unwrap())
}

#[tokio::test]
async fn a_client_acts_for_itself_with_a_secret() {
    let world = World::new().await;
    world.set_server(
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    );
    world.set_resource("scopes_supported", json!(["read"]));
    let client = Registered::new("me")
        .with_secret("sesame")
        .at_issuer(&*world.url);
    world
        .request(&OAuth::new("robot").client_credentials(client))
        .await
        .unwrap();
    let asked = &world.at("/token")[0];
    assert_eq!(asked.param("grant_type").unwrap(), "client_credentials");
    assert_eq!(
        asked.param("resource").unwrap(),
        format!("{}/mcp", world.url)
    );
    assert_eq!(asked.param("scope").unwrap(), "read");
    assert_eq!(asked.headers["authorization"], "Basic bWU6c2VzYW1l");
    assert_eq!(asked.param("client_id"), None);
    assert!(world.at("/register").is_empty() && world.at("/authorize").is_empty());
}

#[tokio::test]
async fn a_client_acts_for_itself_with_a_key() {
    let world = World::new().await;
    let key = SigningKey::generate().unwrap();
    let public = key.public_key();
    let client = Registered::new("me").with_key(key);
    world
        .request(&OAuth::new("robot").client_credentials(client))
        .await
        .unwrap();
    let asked = &world.at("/token")[0];
    let assertion = asked.param("client_assertion").unwrap();
    let jws = Jws::parse(&assertion).unwrap();
    jws.verify(&JwkSet::new([public]), &[Algorithm::Es256])
        .unwrap();
    let (_, said) = claims(&assertion);
    assert_eq!((&said["iss"], &said["sub"]), (&json!("me"), &json!("me")));
    assert_eq!(said["aud"], world.url);
    assert_eq!(
        said["exp"].as_u64().unwrap() - said["iat"].as_u64().unwrap(),
        60
    );
    assert_eq!(asked.param("client_id"), None);
}

#[tokio::test]
async fn a_companys_provider_decides() {
    let (world, provider) = (World::new().await, World::new().await);
    provider.rule(|seen| {
        let answer = json!({
            "access_token": "the-grant",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "token_type": "N_A",
        });
        (seen.path == "/token").then(|| Answer::json(200, &answer))
    });
    world.set_server(
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_post"]),
    );
    let sign_on =
        |audience: String| async move { Ok(Secret::new(format!("id-token of {audience}"))) };
    let enterprise = Enterprise::new(&*provider.url, Registered::new("at-provider"), sign_on);
    let oauth = OAuth::new("app")
        .client(Registered::new("at-server").with_secret("sesame"))
        .enterprise(enterprise);
    world.request(&oauth).await.unwrap();
    let exchanged = &provider.at("/token")[0];
    let param = |name| exchanged.param(name).unwrap();
    assert_eq!(
        param("grant_type"),
        "urn:ietf:params:oauth:grant-type:token-exchange"
    );
    assert_eq!(
        param("requested_token_type"),
        "urn:ietf:params:oauth:token-type:id-jag"
    );
    assert_eq!(
        param("subject_token_type"),
        "urn:ietf:params:oauth:token-type:id_token"
    );
    assert_eq!(
        param("subject_token"),
        format!("id-token of {}", provider.url)
    );
    assert_eq!(param("audience"), world.url);
    assert_eq!(param("resource"), format!("{}/mcp", world.url));
    assert_eq!(param("client_id"), "at-provider");
    let asked = &world.at("/token")[0];
    assert_eq!(
        asked.param("grant_type").unwrap(),
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(asked.param("assertion").unwrap(), "the-grant");
    assert_eq!(asked.param("client_id").unwrap(), "at-server");
    assert!(!format!("{asked:?}").contains("id-token of"));
}

#[tokio::test]
async fn what_the_provider_gives_must_be_a_grant() {
    let (world, provider) = (World::new().await, World::new().await);
    let enterprise = Enterprise::new(&*provider.url, Registered::new("p"), Secret::new("id"))
        .token_endpoint(format!("{}/token", provider.url));
    let oauth = OAuth::new("app")
        .client(Registered::new("s"))
        .enterprise(enterprise);
    let error = world.error(&oauth).await;
    assert_eq!(error.step(), Step::Exchange);
    assert!(error.to_string().contains("issued_token_type"), "{error}");
    assert!(world.at("/token").is_empty());
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The file is read each time, because platforms renew it.
#[tokio::test]
async fn a_platform_vouches_for_the_client() {
    let world = World::new().await;
    world.plan().life = Some(0);
    let file = Scratch(std::env::temp_dir().join(format!("turnbuckle-{}", std::process::id())));
    let oauth = OAuth::new("pod").workload(AssertionFile::new(&file.0));
    for text in ["first\n", "second\n"] {
        std::fs::write(&file.0, text).unwrap();
        world.request(&oauth).await.unwrap();
    }
    let asked = world.at("/token");
    let words: Vec<_> = asked
        .iter()
        .map(|seen| seen.param("assertion").unwrap())
        .collect();
    assert_eq!(words, ["first", "second"]);
    assert_eq!(
        asked[0].param("grant_type").unwrap(),
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(asked[0].param("client_id"), None);
    assert!(world.at("/register").is_empty());
}

/// An assertion is valid at every authorization server that trusts the platform. A server that
/// names another authorization server, or is its own, must not get it.
#[tokio::test]
async fn a_statement_is_shown_to_its_issuer_only() {
    let (world, other) = (World::new().await, World::new().await);
    let oauth = || OAuth::new("pod").workload(Secret::new("word"));
    let pinned = oauth().issuer(&*world.url);
    world.request(&pinned).await.unwrap();
    assert_eq!(world.at("/token").len(), 1);
    let pinned = oauth().issuer(&*world.url);
    for is_published in [true, false] {
        if !is_published {
            other.plan().documents.clear();
            other.plan().challenge = "Bearer".to_owned();
        }
        let error = other.error(&pinned).await;
        assert!(error.to_string().contains(&world.url), "{error}");
        assert!(other.at("/token").is_empty());
    }
}

#[tokio::test]
async fn a_platform_that_is_not_believed_is_not_tried_again() {
    let world = World::new().await;
    world.rule(|seen| {
        (seen.path == "/token").then(|| Answer::json(400, &json!({"error": "invalid_grant"})))
    });
    let error = world
        .error(&OAuth::new("pod").workload(Secret::new("word")))
        .await;
    assert_eq!(error.oauth_error(), Some("invalid_grant"));
    assert_eq!(world.at("/token").len(), 1);
}

/// A world that requires proofs, with nonces from both servers.
async fn proving() -> World {
    let world = World::new().await;
    world.set_server("dpop_signing_alg_values_supported", json!(["ES256"]));
    world.plan().challenge = String::from(r#"DPoP algs="ES256""#);
    world.rule(|seen| {
        if seen.path != "/token" {
            return None;
        }
        if nonce(seen).as_deref() != Some("as-nonce") {
            let answer = Answer::json(400, &json!({"error": "use_dpop_nonce"}));
            return Some(answer.with("dpop-nonce", "as-nonce"));
        }
        let answer = json!({"access_token": "bound", "token_type": "DPoP"});
        Some(Answer::json(200, &answer))
    });
    world.rule(|seen| {
        let is_sent = seen.headers.get("authorization")? == "DPoP bound";
        if seen.path != "/mcp" || !is_sent {
            return None;
        }
        if nonce(seen).as_deref() != Some("rs-nonce") {
            let challenge = r#"DPoP error="use_dpop_nonce""#;
            let answer = Answer::empty(401).with("www-authenticate", challenge);
            return Some(answer.with("dpop-nonce", "rs-nonce"));
        }
        Some(Answer::json(200, &json!({})))
    });
    world
}

fn nonce(seen: &Seen) -> Option<String> {
    let (_, said) = claims(seen.headers.get("dpop")?);
    said["nonce"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn bound_tokens_are_proved_with_each_request() {
    let world = proving().await;
    let oauth = oauth();
    for _ in 0..2 {
        assert!(world.request(&oauth).await.unwrap().status().is_success());
    }
    let proofs: Vec<_> = world
        .log()
        .iter()
        .filter_map(|seen| Some((seen.path.clone(), claims(seen.headers.get("dpop")?))))
        .collect();
    // Two requests to the token endpoint and two to the server, because of the nonces, and one
    // later request.
    assert_eq!(proofs.len(), 5);
    let mut ids: Vec<_> = proofs
        .iter()
        .map(|(_, (_, said))| said["jti"].to_string())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    for (path, (header, said)) in &proofs {
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["jwk"], proofs[0].1.0["jwk"]);
        assert_eq!(said["htm"], "POST");
        assert_eq!(said["htu"], format!("{}{path}", world.url));
        let bound = (path == "/mcp").then(|| json!(digest("bound")));
        assert_eq!(said.get("ath").cloned(), bound, "{path}");
    }
    assert_eq!(
        world.at("/register")[0].json()["dpop_bound_access_tokens"],
        true
    );
    assert!(world.at("/authorize")[0].param("dpop_jkt").is_some());
}

#[tokio::test]
async fn proofs_are_made_when_they_are_asked_for_or_required() {
    let world = World::new().await;
    world.set_server("dpop_signing_alg_values_supported", json!(["ES256"]));
    world.request(&oauth()).await.unwrap();
    world.request(&oauth().dpop(Dpop::Never)).await.unwrap();
    assert!(
        world
            .log()
            .iter()
            .all(|seen| !seen.headers.contains_key("dpop"))
    );
    // DPoP is required, but the authorization server issues plain tokens.
    let error = world.error(&oauth().dpop(Dpop::Required)).await;
    assert!(error.to_string().contains("not bound"), "{error}");
    world.set_server("dpop_signing_alg_values_supported", json!(["RS256"]));
    let error = world.error(&oauth().dpop(Dpop::Required)).await;
    assert_eq!(error.step(), Step::ServerMetadata);
}
