//! Places that servers must not be able to send a client to.

use serde_json::json;
use turnbuckle_auth::client::{Problem, Step};

use super::world::{Answer, World, oauth};

fn is_forbidden(problem: &Problem) -> bool {
    matches!(problem, Problem::Forbidden(_))
}

/// Metadata is not fetched from a private network.
#[tokio::test]
async fn private_addresses_are_not_asked() {
    let world = World::new().await;
    for (address, hint) in [
        ("https://10.0.0.1/prm", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://[fd00::1]/prm", "private"),
        ("https://[::ffff:192.168.0.1]/prm", "private"),
        ("http://as.example/prm", "https"),
    ] {
        world.plan().challenge = format!(r#"Bearer resource_metadata="{address}""#);
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), Step::ResourceMetadata, "{address}");
        assert!(is_forbidden(error.problem()), "{error}");
        assert!(error.advice().unwrap().contains(hint), "{error}");
        assert!(address.starts_with(error.url().unwrap()), "{error}");
    }
}

/// A redirect does not lead into a private network either.
#[tokio::test]
async fn a_redirect_does_not_lead_inside() {
    let world = World::new().await;
    world.rule(|seen| {
        let to = "https://169.254.169.254/latest/meta-data";
        seen.path
            .contains("well-known")
            .then(|| Answer::empty(302).with("location", to))
    });
    let error = world.error(&oauth()).await;
    assert!(is_forbidden(error.problem()), "{error}");
}

#[tokio::test]
async fn redirects_of_documents_are_followed_and_bounded() {
    let world = World::new().await;
    world.rule(|seen| {
        (seen.path == "/.well-known/oauth-protected-resource/mcp")
            .then(|| Answer::empty(301).with("location", "/moved"))
    });
    let document =
        json!({"resource": world.mcp().to_string(), "authorization_servers": [world.url]});
    world.plan().documents.insert("/moved".to_owned(), document);
    world.request(&oauth()).await.unwrap();
    world.plan().accepted.clear();
    world.rule(|seen| {
        (seen.path == "/moved").then(|| Answer::empty(302).with("location", "/moved"))
    });
    let error = world.error(&oauth()).await;
    assert!(matches!(error.problem(), Problem::Malformed(_)), "{error}");
}

/// Codes and secrets are sent only to the named endpoint, never to the target of a redirect.
#[tokio::test]
async fn a_token_endpoint_that_redirects_is_not_followed() {
    let (world, other) = (World::new().await, World::new().await);
    for status in [302, 307, 308] {
        let to = format!("{}/token", other.url);
        world.rule(move |seen| {
            (seen.path == "/token").then(|| Answer::empty(status).with("location", &*to))
        });
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), Step::Token);
    }
    assert!(other.log().is_empty());
}

/// The endpoints in metadata must satisfy the same rules.
#[tokio::test]
async fn endpoints_must_be_https_too() {
    let world = World::new().await;
    for (name, step) in [
        ("registration_endpoint", Step::Registration),
        ("token_endpoint", Step::Token),
        ("authorization_endpoint", Step::Authorization),
    ] {
        let honest = format!("{}/{}", world.url, name.split('_').next().unwrap());
        world.set_server(name, json!("http://as.example/endpoint"));
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), step, "{error}");
        assert!(is_forbidden(error.problem()), "{error}");
        world.set_server(
            name,
            json!(
                honest
                    .replace("registration", "register")
                    .replace("authorization", "authorize")
            ),
        );
    }
    world.request(&oauth()).await.unwrap();
}

#[tokio::test]
async fn what_a_browser_must_not_open_is_not_opened() {
    let world = World::new().await;
    for endpoint in ["file:///etc/passwd", "javascript:alert(1)", "--help", ""] {
        world.set_server("authorization_endpoint", json!(endpoint));
        let error = world.error(&oauth()).await;
        assert_eq!(error.step(), Step::Authorization, "{endpoint}");
    }
}

#[tokio::test]
async fn a_document_without_an_end_is_not_read() {
    let world = World::new().await;
    let huge = format!(r#"{{"resource": "{}"}}"#, "x".repeat(1024 * 1024));
    world.rule(move |seen| {
        seen.path.contains("protected-resource").then(|| Answer {
            body: huge.clone(),
            ..Answer::json(200, &json!(null))
        })
    });
    let error = world.error(&oauth()).await;
    assert_eq!(error.problem(), &Problem::Unreachable);
    assert!(error.advice().unwrap().contains("too large"), "{error}");
}

#[tokio::test]
async fn nonsense_is_told_and_a_page_is_nothing() {
    let world = World::new().await;
    world.rule(|seen| {
        let is_it = seen.path.ends_with("oauth-protected-resource/mcp");
        is_it.then(|| Answer::json(200, &json!({"resource": 7})))
    });
    let error = world.error(&oauth()).await;
    assert!(matches!(error.problem(), Problem::Malformed(_)), "{error}");
    // A web server that answers every path with a page has no metadata.
    world.rule(|seen| {
        seen.path.contains("well-known").then(|| Answer {
            body: "<!doctype html>".to_owned(),
            ..Answer::empty(200).with("content-type", "text/html")
        })
    });
    world.plan().challenge = "Bearer".to_owned();
    world.request(&oauth()).await.unwrap();
}
