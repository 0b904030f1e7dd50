//! Secrets appear in no log, no error and no `Debug` output.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;
use turnbuckle_auth::Secret;
use turnbuckle_auth::client::{MemoryStore, Registered, StoreKey, TokenStore};
use turnbuckle_base::error_chain::causes;
use turnbuckle_transport::http::client::{BoxError, BoxFuture};

use super::world::{Answer, World, oauth};

/// The secrets in this test.
const SECRETS: [&str; 5] = ["t0ken", "r3fresh", "c0de", "sesame", "code_verifier"];

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

// rule: A22, A26
#[tokio::test]
async fn no_secret_is_logged_or_shown() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let world = World::new().await;
    world.set_server(
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_post"]),
    );
    world.plan().gives_refresh_tokens = true;
    let client = Registered::new("me").with_secret("sesame");
    let store = Arc::new(MemoryStore::new());
    let oauth = oauth().client(client.clone()).store(Shared(store.clone()));
    world.request(&oauth).await.unwrap();
    world.plan().accepted.clear();
    world.request(&oauth).await.unwrap();
    world.plan().accepted.clear();
    // The response repeats the request and is not JSON.
    world.rule(|seen| {
        (seen.path == "/token").then(|| Answer {
            body: format!("t0ken {}", seen.body),
            ..Answer::empty(200)
        })
    });
    let error = world.request(&oauth).await.unwrap_err();
    let mut shown = format!("{error} {error:?} {oauth:?} {client:?} {store:?}");
    for cause in causes(&error) {
        shown = format!("{shown} {cause} {cause:?}");
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        logged.contains("fetching a token"),
        "nothing was logged: {logged}"
    );
    for secret in SECRETS {
        assert!(!shown.contains(secret), "{secret} in {shown}");
        let ours = logged.lines().filter(|line| line.contains("turnbuckle"));
        for line in ours {
            assert!(!line.contains(secret), "{secret} in {line}");
        }
    }
}

/// A store that the test can inspect.
struct Shared(Arc<MemoryStore>);

impl TokenStore for Shared {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        self.0.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.save(key, value)
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.remove(key)
    }
}
