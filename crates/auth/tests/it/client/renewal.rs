//! Tokens that expire, are stored, are shared, and are revoked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use turnbuckle_auth::client::{FileStore, OAuth};
use turnbuckle_transport::http::client::AgentSettings;

use super::world::{Answer, Seen, World, oauth, request};

/// A world whose tokens can be renewed, and whose refresh tokens can be used once.
async fn renewing() -> World {
    let world = World::new().await;
    world.plan().gives_refresh_tokens = true;
    let spent = Arc::new(std::sync::Mutex::new(Vec::new()));
    world.rule(move |seen| {
        let token = seen
            .param("refresh_token")
            .filter(|_| seen.path == "/token")?;
        let mut spent = spent.lock().unwrap();
        let is_spent = spent.contains(&token);
        spent.push(token);
        is_spent.then(|| Answer::json(400, &json!({"error": "invalid_grant"})))
    });
    world
}

fn renewals(world: &World) -> Vec<Seen> {
    let asked = world.at("/token");
    let is_renewal = |seen: &Seen| seen.param("grant_type").as_deref() == Some("refresh_token");
    asked.into_iter().filter(is_renewal).collect()
}

/// Refresh with rotation: each refresh token is used once.
#[tokio::test]
async fn a_token_that_expires_is_renewed_before_it_is_sent() {
    let world = renewing().await;
    world.plan().life = Some(0);
    let oauth = oauth();
    for _ in 0..3 {
        assert!(world.request(&oauth).await.unwrap().status().is_success());
    }
    let sent = world.at("/mcp");
    let sent: Vec<_> = sent
        .iter()
        .filter_map(|seen| seen.headers.get("authorization"))
        .collect();
    // A token that was just granted is used even if it expires soon.
    assert_eq!(sent, ["Bearer t0ken-1", "Bearer t0ken-2", "Bearer t0ken-3"]);
    let renewals = renewals(&world);
    let used: Vec<_> = renewals
        .iter()
        .map(|seen| seen.param("refresh_token").unwrap())
        .collect();
    assert_eq!(used, ["r3fresh-1", "r3fresh-2"]);
    assert_eq!(
        renewals[0].param("resource").unwrap(),
        format!("{}/mcp", world.url)
    );
    assert_eq!(world.at("/authorize").len(), 1);
}

/// Concurrent requests of one process share one sign-in and one renewal.
#[tokio::test(flavor = "multi_thread")]
async fn many_requests_share_one_sign_in_and_one_renewal() {
    let world = Arc::new(renewing().await);
    let oauth = oauth();
    for round in 0..2 {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (world, oauth) = (world.clone(), oauth.clone());
            all.spawn(async move { world.request(&oauth).await.unwrap().status() });
        }
        for status in all.join_all().await {
            assert!(status.is_success());
        }
        assert_eq!(world.at("/authorize").len(), 1);
        assert_eq!(renewals(&world).len(), round);
        world.plan().accepted.clear();
    }
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("turnbuckle-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn client(&self) -> OAuth {
        oauth().store(FileStore::open_at(&self.0).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Clients that share only a folder renew once.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_share_a_folder_renew_once() {
    let world = Arc::new(renewing().await);
    let scratch = Scratch::new("shared");
    let clients: Vec<_> = (0..8).map(|_| scratch.client()).collect();
    for client in &clients {
        assert!(world.request(client).await.unwrap().status().is_success());
    }
    // Only the first client asked the user.
    assert_eq!(world.at("/authorize").len(), 1);
    world.plan().accepted.clear();
    let mut all = tokio::task::JoinSet::new();
    for client in clients {
        let world = world.clone();
        all.spawn(async move { world.request(&client).await.unwrap().status() });
    }
    for status in all.join_all().await {
        assert!(status.is_success());
    }
    assert_eq!(renewals(&world).len(), 1);
    assert_eq!(world.at("/authorize").len(), 1);
}

/// The same with real processes: each of them runs this test again in another role.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_share_a_folder_renew_once() {
    const WORLD: &str = "TURNBUCKLE_TEST_WORLD";
    const FOLDER: &str = "TURNBUCKLE_TEST_FOLDER";
    if let (Ok(world), Ok(folder)) = (std::env::var(WORLD), std::env::var(FOLDER)) {
        let oauth = oauth().store(FileStore::open_at(folder).unwrap());
        let address = turnbuckle_transport::http::client::Address::parse(&world).unwrap();
        assert!(
            request(&oauth, &address)
                .await
                .unwrap()
                .status()
                .is_success()
        );
        return;
    }
    let world = renewing().await;
    let scratch = Scratch::new("processes");
    assert!(
        world
            .request(&scratch.client())
            .await
            .unwrap()
            .status()
            .is_success()
    );
    world.plan().accepted.clear();
    let children: Vec<_> = (0..4)
        .map(|_| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "client::renewal::processes_that_share_a_folder_renew_once",
                ])
                .env(WORLD, world.mcp().to_string())
                .env(FOLDER, &scratch.0)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        let ended = tokio::task::spawn_blocking(move || child.wait())
            .await
            .unwrap();
        assert!(ended.unwrap().success());
    }
    assert_eq!(renewals(&world).len(), 1);
    assert_eq!(world.at("/authorize").len(), 1);
}

// rule: A19
/// A19: never assume a refresh token.
#[tokio::test]
async fn without_a_refresh_token_the_person_is_asked_again() {
    let world = World::new().await;
    let oauth = oauth();
    for _ in 0..2 {
        world.request(&oauth).await.unwrap();
        world.plan().accepted.clear();
    }
    assert_eq!(world.at("/authorize").len(), 2);
    assert!(renewals(&world).is_empty());
}

#[tokio::test]
async fn a_spent_refresh_token_leads_to_the_person_with_the_same_scopes() {
    let world = renewing().await;
    world.set_resource("scopes_supported", json!(["read"]));
    world.rule(|seen| {
        seen.param("refresh_token")?;
        Some(Answer::json(400, &json!({"error": "invalid_grant"})))
    });
    let oauth = oauth();
    world.request(&oauth).await.unwrap();
    world.plan().accepted.clear();
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(renewals(&world).len(), 1);
    let asked = world.at("/authorize");
    assert_eq!(asked[0].param("scope"), asked[1].param("scope"));
}

#[tokio::test]
async fn a_renewed_token_that_is_refused_leads_to_the_person() {
    let world = renewing().await;
    let challenge = world.plan().challenge.clone();
    world.rule(move |seen| {
        let is_renewed = seen.headers.get("authorization")? == "Bearer t0ken-2";
        is_renewed.then(|| Answer::empty(401).with("www-authenticate", &*challenge))
    });
    let oauth = oauth();
    world.request(&oauth).await.unwrap();
    world.plan().accepted.clear();
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(world.at("/authorize").len(), 2);
}

/// If the authorization server fails or is overloaded, the refresh token is kept.
#[tokio::test]
async fn trouble_while_renewing_is_told_and_nothing_is_lost() {
    for status in [503, 429, 408] {
        let world = renewing().await;
        let oauth = oauth();
        world.request(&oauth).await.unwrap();
        world.plan().accepted.clear();
        let trouble = Arc::new(AtomicUsize::new(1));
        let left = trouble.clone();
        world.rule(move |seen| {
            let is_now = seen.path == "/token" && left.fetch_sub(1, Ordering::SeqCst) == 1;
            is_now.then(|| Answer::empty(status))
        });
        let error = world.error(&oauth).await;
        assert_eq!(error.step(), turnbuckle_auth::client::Step::Refresh);
        assert!(world.request(&oauth).await.unwrap().status().is_success());
        assert_eq!(world.at("/authorize").len(), 1, "{status}");
    }
}

/// Tokens that another process has renewed are not overwritten by a process that loaded the old
/// ones.
#[tokio::test]
async fn tokens_that_were_found_are_not_written_again() {
    let world = renewing().await;
    let scratch = Scratch::new("found");
    let first = scratch.client();
    world.request(&first).await.unwrap();
    let second = scratch.client();
    let files = |scratch: &Scratch| -> Vec<_> {
        let files = std::fs::read_dir(&scratch.0).unwrap().map(Result::unwrap);
        let is_tokens = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.contains("r3fresh")
        };
        files.map(|file| file.path()).filter(is_tokens).collect()
    };
    let kept = files(&scratch);
    assert_eq!(kept.len(), 1);
    let before = std::fs::metadata(&kept[0]).unwrap();
    for file in std::fs::read_dir(&scratch.0).unwrap() {
        let path = file.unwrap().path();
        if std::fs::read_to_string(&path)
            .unwrap()
            .contains("\"server ")
        {
            std::fs::remove_file(path).unwrap();
        }
    }
    // It starts without tokens, is refused, and finds those of the first client.
    second.sign_in(&world.mcp().to_string()).await.unwrap();
    world.request(&second).await.unwrap();
    let after = std::fs::metadata(&kept[0]).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(world.at("/authorize").len(), 1);
}

/// Two hooks that share a store in memory take turns, as processes that share a folder do.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_share_a_store_in_memory_renew_once() {
    let world = Arc::new(renewing().await);
    let first = oauth();
    world.request(&first).await.unwrap();
    let second = first.for_another_server();
    world.request(&second).await.unwrap();
    world.plan().accepted.clear();
    let mut all = tokio::task::JoinSet::new();
    for client in [first, second] {
        let world = world.clone();
        all.spawn(async move { world.request(&client).await.unwrap().status() });
    }
    for status in all.join_all().await {
        assert!(status.is_success());
    }
    assert_eq!(renewals(&world).len(), 1);
    assert_eq!(world.at("/authorize").len(), 1);
}

/// Tokens that could not be renewed are no longer used, but are still stored and can be revoked.
#[tokio::test]
async fn signing_out_after_a_failed_renewal_forgets_all_the_same() {
    let world = renewing().await;
    world.plan().life = Some(0);
    let scratch = Scratch::new("sign-out-later");
    world.request(&scratch.client()).await.unwrap();
    let oauth = scratch.client();
    let left = AtomicUsize::new(2);
    world.rule(move |seen| {
        let is_now = seen.path == "/token" && left.fetch_sub(1, Ordering::SeqCst) > 0;
        is_now.then(|| Answer::empty(503))
    });
    world.error(&oauth).await;
    oauth.sign_out(&world.mcp().to_string()).await.unwrap();
    let given = world.at("/revoke");
    assert_eq!(given[0].param("token").unwrap(), "r3fresh-1");
    for file in std::fs::read_dir(&scratch.0).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("r3fresh"), "{text}");
    }
}

#[tokio::test]
async fn signing_out_gives_everything_back_and_forgets_it() {
    let world = renewing().await;
    let scratch = Scratch::new("sign-out");
    let oauth = scratch.client();
    world.request(&oauth).await.unwrap();
    oauth.sign_out(&world.mcp().to_string()).await.unwrap();
    let given: Vec<_> = world
        .at("/revoke")
        .iter()
        .map(|seen| seen.param("token").unwrap())
        .collect();
    assert_eq!(given, ["r3fresh-1", "t0ken-1"]);
    assert_eq!(
        world.at("/revoke")[0].param("client_id").unwrap(),
        "registered-1"
    );
    let kept = std::fs::read_dir(&scratch.0).unwrap();
    for file in kept {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(
            !text.contains("t0ken") && !text.contains("r3fresh"),
            "{text}"
        );
    }
    world.request(&scratch.client()).await.unwrap();
    assert_eq!(world.at("/authorize").len(), 2);
    // The registration was kept.
    assert_eq!(world.at("/register").len(), 1);
}

/// Dropping a call does not end the sign-in that it started.
#[tokio::test]
async fn a_call_that_is_dropped_does_not_end_the_sign_in() {
    let world = World::new().await;
    let oauth = oauth();
    let agent = AgentSettings::new().with_authorize(Arc::new(oauth.clone()));
    let agent = agent.agent(&world.mcp()).unwrap();
    let address = world.mcp();
    let call = agent.post(&address, http::HeaderMap::new(), "{}".into());
    let mut call = Box::pin(call);
    // Wait until it is refused and the sign-in has started.
    while world
        .at("/.well-known/oauth-protected-resource/mcp")
        .is_empty()
    {
        let one = std::future::poll_fn(|context| {
            let _ = call.as_mut().poll(context);
            std::task::Poll::Ready(())
        });
        one.await;
        tokio::task::yield_now().await;
    }
    drop(call);
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(world.at("/authorize").len(), 1);
}
