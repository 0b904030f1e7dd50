//! The authorization server is found by the rules of the specification only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use turnbuckle_auth::client::{Problem, SignIn, Step};

use super::world::{Answer, World, oauth, server_metadata};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// A1: the token is in the header of every request, and never in a query.
#[tokio::test]
async fn a_refusal_leads_to_a_token_and_the_request_is_sent_again() {
    let world = World::new().await;
    let oauth = oauth();
    for _ in 0..2 {
        assert!(world.request(&oauth).await.unwrap().status().is_success());
    }
    assert_eq!(
        world.paths(),
        [
            "/mcp",
            &format!("{RESOURCE}/mcp"),
            SERVER,
            "/register",
            "/authorize",
            "/token",
            "/mcp",
            "/mcp",
        ]
    );
    let sent = world.at("/mcp");
    assert_eq!(sent[0].headers.get("authorization"), None);
    for request in &sent[1..] {
        assert_eq!(request.headers["authorization"], "Bearer t0ken-1");
    }
    assert!(world.log().iter().all(|seen| !seen.query.contains("t0ken")));
}

// rule: A4
/// A4: the URL in the challenge, then below the path, then at the root.
#[tokio::test]
async fn the_resource_is_looked_for_where_it_says_then_by_path_then_at_the_root() {
    let world = World::new().await;
    let path = format!("{RESOURCE}/mcp");
    let document = world.plan().documents.remove(&path).unwrap();
    world.plan().documents.insert(RESOURCE.to_owned(), document);
    world.plan().challenge = format!(r#"Bearer resource_metadata="{}/told""#, world.url);
    world.request(&oauth()).await.unwrap();
    assert_eq!(world.paths()[1..4], ["/told", &path, RESOURCE]);
}

// rule: A5
/// A5: three URLs if the issuer has a path.
#[tokio::test]
async fn the_authorization_server_is_looked_for_in_three_places() {
    let world = World::new().await;
    let issuer = format!("{}/tenant", world.url);
    world.set_resource("authorization_servers", json!([issuer]));
    let mut document = server_metadata(&world.url);
    document["issuer"] = json!(issuer);
    let last = format!("/tenant{OPENID}");
    world.plan().documents.insert(last.clone(), document);
    world.plan().iss = Some(issuer);
    world.request(&oauth()).await.unwrap();
    let places = [format!("{SERVER}/tenant"), format!("{OPENID}/tenant"), last];
    assert_eq!(world.paths()[2..5], places);
}

// rule: A6
/// A6: metadata whose issuer differs is not used.
#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    let world = World::new().await;
    for issuer in ["https://honest.example", &format!("{}/", world.url)] {
        world.set_server("issuer", json!(issuer));
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), Step::ServerMetadata);
        assert_eq!(error.broken_rule(), Some("RFC 8414, 3.3"));
        assert!(error.to_string().contains(issuer), "{error}");
    }
    assert!(world.at("/authorize").is_empty() && world.at("/register").is_empty());
}

/// A9: a token for another server is not even fetched.
#[tokio::test]
async fn a_resource_that_is_not_the_server_is_refused() {
    let world = World::new().await;
    for resource in ["https://evil.example/mcp", &format!("{}/other", world.url)] {
        world.set_resource("resource", json!(resource));
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), Step::ResourceMetadata);
        assert!(
            matches!(error.problem(), Problem::Mismatch { .. }),
            "{error}"
        );
    }
    assert_eq!(world.at(SERVER).len(), 0);
}

// rule: A9
/// A9: tokens are sent to the server that they are for, and to no other.
#[tokio::test]
async fn tokens_are_not_sent_to_another_server() {
    let (one, other) = (World::new().await, World::new().await);
    let oauth = oauth();
    one.request(&oauth).await.unwrap();
    let error = other.error(&oauth).await;
    assert_eq!(error.step(), Step::Setup);
    assert!(other.log().is_empty());
    other.request(&oauth.for_another_server()).await.unwrap();
}

// rule: A8, A24
/// A8: exactly as published, without a trailing slash, in both requests.
#[tokio::test]
async fn the_resource_is_named_as_it_was_published() {
    let world = World::new().await;
    world.set_resource("resource", json!(world.url));
    world.request(&oauth()).await.unwrap();
    for path in ["/authorize", "/token"] {
        let seen = &world.at(path)[0];
        assert_eq!(
            seen.param("resource").as_deref(),
            Some(&*world.url),
            "{path}"
        );
    }
}

// rule: A7
/// A7: 2025-03-26, with metadata at the root and without any.
#[tokio::test]
async fn a_server_without_metadata_is_its_own_authorization_server() {
    for has_metadata in [true, false] {
        let world = World::new().await;
        world
            .plan()
            .documents
            .retain(|path, _| path == SERVER && has_metadata);
        world.plan().challenge = "Bearer".to_owned();
        world.request(&oauth()).await.unwrap();
        let paths = world.paths();
        assert_eq!(
            paths[1..3],
            [format!("{RESOURCE}/mcp"), RESOURCE.to_owned()]
        );
        assert_eq!(paths[3], SERVER);
        // 2025-03-26, 2.3.2: the version SHOULD be told there.
        let version = world.log()[3].headers.get("mcp-protocol-version").cloned();
        assert_eq!(version.as_deref(), Some("2025-03-26"));
        assert_eq!(
            paths[paths.len() - 4..paths.len() - 1],
            ["/register", "/authorize", "/token"]
        );
        assert_eq!(world.at("/token")[0].param("resource"), None);
    }
}

/// A server error does not mean that there is no metadata.
#[tokio::test]
async fn a_server_in_trouble_is_not_taken_for_an_old_one() {
    let world = World::new().await;
    world.rule(|seen| seen.path.contains("well-known").then(|| Answer::empty(503)));
    let error = world.error(&oauth()).await;
    assert!(
        matches!(error.problem(), Problem::Refused { status: 503, .. }),
        "{error}"
    );
    assert!(world.at("/authorize").is_empty());
}

/// A3, seen from the client.
#[tokio::test]
async fn metadata_without_authorization_servers_is_told_of() {
    let world = World::new().await;
    world.set_resource("authorization_servers", json!([]));
    let error = world.error(&oauth()).await.to_string();
    assert!(error.contains("authorization_servers"), "{error}");
}

/// Servers without streams answer a GET with 405, and those with sessions with 400. Neither
/// requires a token.
#[tokio::test]
async fn an_open_server_needs_no_signing_in_whatever_it_says_to_a_get() {
    for status in [400, 404, 405, 406] {
        let world = World::new().await;
        world.rule(move |seen| (seen.path == "/mcp").then(|| Answer::empty(status)));
        let server = world.mcp().to_string();
        assert_eq!(oauth().sign_in(&server).await.unwrap(), SignIn::NotNeeded);
        assert_eq!(world.paths(), ["/mcp", "/mcp"], "{status}");
    }
}

#[tokio::test]
async fn signing_in_ahead_needs_no_request_and_happens_once() {
    let world = World::new().await;
    let open = Arc::new(AtomicBool::new(true));
    let is_open = open.clone();
    world.rule(move |seen| {
        let is_let_in = seen.path == "/mcp" && is_open.load(Ordering::SeqCst);
        is_let_in.then(|| Answer::empty(200))
    });
    let oauth = oauth();
    let server = world.mcp().to_string();
    assert_eq!(oauth.sign_in(&server).await.unwrap(), SignIn::NotNeeded);
    assert_eq!(
        world.log().len(),
        1,
        "a server without authorization is sent one request only"
    );
    open.store(false, Ordering::SeqCst);
    assert_eq!(oauth.sign_in(&server).await.unwrap(), SignIn::Done);
    assert_eq!(oauth.sign_in(&server).await.unwrap(), SignIn::Already);
    assert_eq!(world.at("/token").len(), 1);
    world.request(&oauth).await.unwrap();
    let last = world.at("/mcp").pop().unwrap();
    assert_eq!(last.headers["authorization"], "Bearer t0ken-1");
}
