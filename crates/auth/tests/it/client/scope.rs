//! The scopes that are requested, and step-up when they do not suffice.

use serde_json::json;
use turnbuckle_auth::client::{Problem, SignIn, Step};

use super::world::{Answer, Seen, World, oauth};

fn asked(world: &World) -> Vec<Option<String>> {
    let asked = world.at("/authorize");
    asked.iter().map(|seen| seen.param("scope")).collect()
}

// rule: A11
/// A11: the scopes of the challenge, otherwise the published ones, otherwise none.
#[tokio::test]
async fn the_challenge_comes_before_what_is_published() {
    let world = World::new().await;
    world.request(&oauth()).await.unwrap();
    world.set_resource("scopes_supported", json!(["read", "write"]));
    world.request(&oauth()).await.unwrap();
    let challenge = world.plan().challenge.clone();
    world.plan().challenge = format!(r#"{challenge}, scope="admin""#);
    world.request(&oauth()).await.unwrap();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(asked(&world), [None, some("read write"), some("admin")]);
}

#[tokio::test]
async fn what_the_application_wants_is_asked_for_too() {
    let world = World::new().await;
    world.set_resource("scopes_supported", json!(["read"]));
    world
        .request(&oauth().scopes(["mine", "read"]))
        .await
        .unwrap();
    assert_eq!(asked(&world), [Some("read mine".to_owned())]);
}

// rule: A19
/// A19: offline access is requested only if it is offered.
#[tokio::test]
async fn offline_access_is_asked_for_where_it_is_offered() {
    let world = World::new().await;
    world.set_server("scopes_supported", json!(["offline_access"]));
    // If it were requested alone, it would replace the default scopes.
    world.request(&oauth()).await.unwrap();
    world.set_resource("scopes_supported", json!(["read"]));
    world.request(&oauth()).await.unwrap();
    world.request(&oauth().online_only()).await.unwrap();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        asked(&world),
        [None, some("read offline_access"), some("read")]
    );
    assert_eq!(
        world.at("/authorize")[1].param("prompt").unwrap(),
        "consent"
    );
}

fn narrow(seen: &Seen, token: &str, scope: &str) -> Option<Answer> {
    let is_sent = seen.headers.get("authorization") == Some(&format!("Bearer {token}"));
    (seen.path == "/mcp" && is_sent).then(|| {
        let challenge = format!(r#"Bearer error="insufficient_scope", scope="{scope}""#);
        Answer::empty(403).with("www-authenticate", challenge)
    })
}

// rule: A13
/// A13: the union of the scopes that were requested and those that are required.
#[tokio::test]
async fn a_token_is_widened_by_what_is_wanted() {
    let world = World::new().await;
    world.set_resource("scopes_supported", json!(["read"]));
    world.rule(|seen| narrow(seen, "t0ken-1", "write"));
    assert!(world.request(&oauth()).await.unwrap().status().is_success());
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(asked(&world), [some("read"), some("read write")]);
}

// rule: A13
/// A13: the number of attempts is limited, and the error says why.
#[tokio::test]
async fn a_server_that_is_never_content_is_given_up() {
    let world = World::new().await;
    world.rule(|seen| {
        let has_token = seen.headers.contains_key("authorization");
        let challenge = r#"Bearer error="insufficient_scope", scope="admin""#;
        (seen.path == "/mcp" && has_token)
            .then(|| Answer::empty(403).with("www-authenticate", challenge))
    });
    let oauth = oauth();
    for _ in 0..2 {
        let error = world.error(&oauth).await;
        assert_eq!(error.step(), Step::Use);
        assert_eq!(error.oauth_error(), Some("insufficient_scope"));
    }
    assert_eq!(asked(&world), [None, Some("admin".to_owned())]);
}

/// Some servers require a token for single tools only, and answer all other requests without one.
#[tokio::test]
async fn scopes_are_asked_for_at_a_server_that_answers_without_a_token() {
    let world = World::new().await;
    world.rule(|seen| (seen.path == "/mcp").then(|| Answer::json(200, &json!({}))));
    let oauth = oauth();
    let url = format!("{}/mcp", world.url);
    let signed_in = oauth.sign_in_for(&url, ["admin"]).await;
    assert_eq!(signed_in.unwrap(), SignIn::Done);
    assert_eq!(asked(&world), [Some("admin".to_owned())]);
}

#[tokio::test]
async fn another_403_is_left_as_it_is() {
    let world = World::new().await;
    world.rule(|seen| (seen.path == "/mcp").then(|| Answer::empty(403)));
    let reply = world.request(&oauth()).await.unwrap();
    assert_eq!(reply.status(), 403);
    assert_eq!(world.log().len(), 1);
}

#[tokio::test]
async fn a_fresh_token_that_is_refused_is_not_fetched_again() {
    let world = World::new().await;
    let challenge = world.plan().challenge.clone();
    world.rule(move |seen| {
        (seen.path == "/mcp").then(|| Answer::empty(401).with("www-authenticate", &*challenge))
    });
    let error = world.error(&oauth()).await;
    assert_eq!(error.problem(), &Problem::StillRefused);
    assert_eq!(world.at("/token").len(), 1);
}
