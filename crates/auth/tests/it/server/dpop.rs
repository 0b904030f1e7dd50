//! Tokens that are bound to a key, and their proofs (RFC 9449).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use turnbuckle_auth::jose::{SigningKey, digest};
use turnbuckle_store::{BoxFuture, StateClaim, StateUse, StoreError, UsedStates};

use super::site::{Answer, Site};

static COUNT: AtomicU64 = AtomicU64::new(0);

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is after 1970").as_secs()
}

/// A client with a key, and a token that is bound to the key.
struct Holder {
    key: SigningKey,
    token: String,
}

impl Holder {
    fn new(site: &Site) -> Self {
        let key = SigningKey::generate().expect("a key");
        let token = site.token().bound_to(key.public_key().thumbprint()).mint();
        Self { key, token }
    }

    /// Makes a proof with some claims replaced; null removes a claim.
    fn proof(&self, site: &Site, changes: &Value) -> String {
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.public_jwk() });
        self.proof_below(site, &header, changes)
    }

    fn proof_below(&self, site: &Site, header: &Value, changes: &Value) -> String {
        let mut claims = json!({
            "htm": "POST", "htu": site.resource, "iat": now(), "ath": digest(&self.token),
            "jti": format!("id-{}", COUNT.fetch_add(1, Ordering::Relaxed)),
        });
        for (name, value) in changes.as_object().expect("an object") {
            if value.is_null() {
                claims.as_object_mut().expect("an object").remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        self.key.sign_with_header(header, &claims).expect("a proof")
    }

    async fn call(&self, site: &Site, proof: &str) -> Answer {
        let token = format!("DPoP {}", self.token);
        let headers = [("authorization", token.as_str()), ("dpop", proof)];
        site.post("whoami", &headers).await
    }
}

#[tokio::test]
async fn a_key_holder_is_admitted_with_a_fresh_proof_each_time() {
    let site = Site::start().await;
    let holder = Holder::new(&site);
    for _ in 0..3 {
        let proof = holder.proof(&site, &json!({}));
        let answer = holder.call(&site, &proof).await;
        assert_eq!(answer.caller()["identity"]["subject"], "ann");
        holder
            .call(&site, &proof)
            .await
            .is_refused(401, "used before");
    }
    let query = json!({ "htu": format!("{}?a=1#b", site.resource) });
    assert_eq!(
        holder
            .call(&site, &holder.proof(&site, &query))
            .await
            .status,
        200
    );
}

/// A store with fixed answers about proofs that another replica has seen.
struct Elsewhere(Mutex<Vec<Result<StateClaim, StoreError>>>);

impl UsedStates for Elsewhere {
    fn claim<'a>(&'a self, _: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>> {
        let next = self.0.lock().expect("nothing panics").pop();
        Box::pin(std::future::ready(
            next.expect("it is asked once for each proof"),
        ))
    }
}

#[tokio::test]
async fn a_proof_that_another_replica_has_seen_is_refused() {
    let away = StoreError::new("test", "it is away".to_owned());
    let elsewhere = Elsewhere(Mutex::new(vec![
        Ok(StateClaim::FirstUse),
        Err(away),
        Ok(StateClaim::AlreadyUsed),
        Ok(StateClaim::FirstUse),
    ]));
    let site = Site::with(|guard| guard.used_proofs(Arc::new(elsewhere))).await;
    let holder = Holder::new(&site);
    let call = async || {
        let proof = holder.proof(&site, &json!({}));
        holder.call(&site, &proof).await
    };
    assert_eq!(call().await.status, 200);
    call().await.is_refused(401, "used before");
    assert_eq!(call().await.status, 503, "it cannot be told");
    assert_eq!(call().await.status, 200);
}

#[tokio::test]
async fn a_proof_of_something_else_is_refused() {
    let site = Site::start().await;
    let holder = Holder::new(&site);
    for (changes, why) in [
        (json!({ "htm": "GET" }), "htm"),
        (json!({ "htm": null }), "htm"),
        (json!({ "htu": "https://evil.example/mcp" }), "htu"),
        (
            json!({ "htu": site.resource.replace("/mcp", "/other") }),
            "htu",
        ),
        (json!({ "htu": null }), "htu"),
        (json!({ "ath": digest("another token") }), "ath"),
        (json!({ "ath": null }), "ath"),
        (json!({ "iat": now() - 400 }), "too old"),
        (json!({ "iat": now() + 400 }), "too old"),
        (json!({ "iat": null }), "iat"),
        (json!({ "jti": null }), "jti"),
        (json!({ "jti": "x".repeat(600) }), "jti"),
    ] {
        let proof = holder.proof(&site, &changes);
        let answer = holder.call(&site, &proof).await;
        answer.is_refused(401, why);
        assert!(
            answer
                .challenge()
                .starts_with("DPoP error=\"invalid_dpop_proof\""),
            "{changes}"
        );
        assert!(answer.challenge().contains("algs=\"ES256"), "{changes}");
    }
    let jwk = holder.key.public_jwk();
    let mut private = jwk.clone();
    private["d"] = json!("AAAA");
    for (header, why) in [
        (
            json!({ "typ": "JWT", "alg": "ES256", "jwk": jwk }),
            "dpop+jwt",
        ),
        (json!({ "alg": "ES256", "jwk": jwk }), "dpop+jwt"),
        (json!({ "typ": "dpop+jwt", "alg": "ES256" }), "no key"),
        (
            json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": private }),
            "private",
        ),
        (
            json!({ "typ": "dpop+jwt", "alg": "none", "jwk": jwk }),
            "not accepted",
        ),
        (
            json!({ "typ": "dpop+jwt", "alg": "HS256", "jwk": jwk }),
            "not accepted",
        ),
    ] {
        let proof = holder.proof_below(&site, &header, &json!({}));
        holder.call(&site, &proof).await.is_refused(401, why);
    }
    holder
        .call(&site, "nonsense")
        .await
        .is_refused(401, "invalid_dpop_proof");
}

#[tokio::test]
async fn a_stolen_token_is_of_no_use() {
    let site = Site::start().await;
    let holder = Holder::new(&site);
    // As a bearer token, then without a proof, then with a proof of another key.
    site.call("whoami", &holder.token)
        .await
        .is_refused(401, "bound to a key");
    let token = format!("DPoP {}", holder.token);
    let bare = site.post("whoami", &[("authorization", &token)]).await;
    bare.is_refused(401, "missing");
    let thief = Holder {
        key: SigningKey::generate().expect("a key"),
        token: holder.token.clone(),
    };
    let proof = thief.proof(&site, &json!({}));
    thief
        .call(&site, &proof)
        .await
        .is_refused(401, "another key");
    // A token that is not bound to a key is refused even with a proof.
    let unbound = Holder {
        key: SigningKey::generate().expect("a key"),
        token: site.token().mint(),
    };
    let proof = unbound.proof(&site, &json!({}));
    unbound
        .call(&site, &proof)
        .await
        .is_refused(401, "not bound to a key");
}

#[tokio::test]
async fn keys_may_be_demanded_and_offered() {
    let site = Site::with(turnbuckle_auth::server::Guard::require_dpop).await;
    let refused = site.post("whoami", &[]).await;
    assert_eq!(refused.status, 401);
    assert!(refused.challenge().starts_with("DPoP resource_metadata="));
    site.call("whoami", &site.token().mint())
        .await
        .is_refused(401, "bound to a key");
    let holder = Holder::new(&site);
    let proof = holder.proof(&site, &json!({}));
    assert_eq!(holder.call(&site, &proof).await.status, 200);
    let document = site
        .get("/.well-known/oauth-protected-resource")
        .await
        .json();
    assert_eq!(document["dpop_bound_access_tokens_required"], true);
    assert_eq!(document["dpop_signing_alg_values_supported"][0], "ES256");

    let site = Site::with(turnbuckle_auth::server::Guard::offer_dpop).await;
    let refused = site.post("whoami", &[]).await;
    let wanted = refused.headers.get_all("www-authenticate");
    assert_eq!(wanted.iter().count(), 2);
    assert_eq!(site.call("whoami", &site.token().mint()).await.status, 200);
}

#[tokio::test]
async fn a_nonce_of_ours_is_demanded_and_renewed() {
    let site = Site::with(|guard| guard.nonces_of("a secret that replicas share")).await;
    let holder = Holder::new(&site);
    let refused = holder.call(&site, &holder.proof(&site, &json!({}))).await;
    refused.is_refused(401, "use_dpop_nonce");
    let nonce = refused.header("dpop-nonce").to_owned();
    let proof = holder.proof(&site, &json!({ "nonce": nonce }));
    assert_eq!(holder.call(&site, &proof).await.status, 200);
    site.pass(150);
    // The response to a proof with the previous nonce contains the next nonce.
    let proof = holder.proof(&site, &json!({ "nonce": nonce }));
    let answer = holder.call(&site, &proof).await;
    assert_eq!(answer.status, 200);
    let next = answer.header("dpop-nonce").to_owned();
    assert!(!next.is_empty() && next != nonce);
    site.pass(150);
    let proof = holder.proof(&site, &json!({ "nonce": nonce, "iat": now() + 300 }));
    holder
        .call(&site, &proof)
        .await
        .is_refused(401, "use_dpop_nonce");
    let proof = holder.proof(&site, &json!({ "nonce": "made up", "iat": now() + 300 }));
    holder
        .call(&site, &proof)
        .await
        .is_refused(401, "use_dpop_nonce");
}
