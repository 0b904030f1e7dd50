//! Which cached results connections to the same URL share.

use std::sync::{Arc, Mutex};

use serde_json::json;
use turnbuckle_client::{
    Cache, Connection, HttpTarget,
    transport::http::client::{Authorize, BoxError, RequestHead},
};

use crate::{
    http_authorize::BoxFuture,
    http_site::{Site, modern, plain},
};

/// Tools are public, resources are private to the caller.
async fn site() -> Site {
    modern(|heard, answer| {
        Box::pin(async move {
            let result = match heard.method() {
                "tools/list" => json!({"tools": [], "cacheScope": "public"}),
                _ => json!({"contents": [], "cacheScope": "private"}),
            };
            let mut result = result;
            result["resultType"] = "complete".into();
            result["ttlMs"] = 60_000.into();
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await
}

async fn use_both(connection: &Connection) {
    for _ in 0..2 {
        connection.tools().await.unwrap();
        connection.read("a:b").await.unwrap();
    }
}

// rule: K2
// caching: public may be served to any user, private MUST NOT be shared across authorization contexts.
#[tokio::test]
async fn public_is_shared_and_private_only_by_one_caller() {
    let site = site().await;
    let cache = Cache::new();
    let client = plain().cache(cache.clone());
    let count = || {
        (
            site.count("POST tools/list"),
            site.count("POST resources/read"),
        )
    };
    use_both(&client.connect(site.target()).await.unwrap()).await;
    assert_eq!(count(), (1, 1));
    // Without a name for the caller, the cache does not know that this is the same caller.
    use_both(&client.connect(site.target()).await.unwrap()).await;
    assert_eq!(count(), (1, 2));
    let ada = || client.connect(site.target()).caller("ada");
    use_both(&ada().await.unwrap()).await;
    assert_eq!(count(), (1, 3));
    use_both(&ada().await.unwrap()).await;
    assert_eq!(count(), (1, 3));
    use_both(&client.connect(site.target()).caller("bob").await.unwrap()).await;
    assert_eq!(count(), (1, 4));
    // Servers may answer a client with more capabilities differently, and another query is another
    // server.
    use_both(
        &client
            .clone()
            .roots(Vec::new())
            .connect(site.target())
            .await
            .unwrap(),
    )
    .await;
    assert_eq!(count(), (2, 5));
    let tenant = HttpTarget::new(format!("{}?tenant=2", site.url())).no_proxy();
    use_both(&client.connect(tenant).await.unwrap()).await;
    assert_eq!(count(), (3, 6));
}

/// Credentials that can change to those of another user.
#[derive(Clone)]
struct Signed(Arc<Mutex<&'static str>>);

impl Signed {
    fn by(token: &'static str) -> Self {
        Self(Arc::new(Mutex::new(token)))
    }
}

impl Authorize for Signed {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let token = format!("Bearer {}", self.0.lock().unwrap());
        request
            .headers
            .insert("authorization", token.parse().unwrap());
        Box::pin(std::future::ready(Ok(())))
    }
}

// rule: K2
// caching: another access token requires a separate cache; requests with the same token may share it.
#[tokio::test]
async fn private_results_are_kept_by_token() {
    let site = site().await;
    let client = plain().cache(Cache::new());
    let reads = || site.count("POST resources/read");
    let connect = |hook: &Signed| client.connect(site.target().authorize(hook.clone()));
    let hook = Signed::by("ada");
    let first = connect(&hook).await.unwrap();
    use_both(&first).await;
    assert_eq!(reads(), 1);
    // Another connection with the same token finds the result as soon as it has its token.
    let second = connect(&Signed::by("ada")).await.unwrap();
    use_both(&second).await;
    assert_eq!(reads(), 1);
    // Another user signs in on the same connection.
    *hook.0.lock().unwrap() = "bob";
    first.read("c:d").await.unwrap();
    use_both(&first).await;
    assert_eq!(reads(), 3);
}
