//! How the client is identified, and which issuer sees which credentials.

use serde_json::json;
use turnbuckle_auth::client::{MemoryStore, Problem, Registered, Step};

use super::world::{Answer, World, oauth, server_metadata};

const DOCUMENT: &str = "https://app.example/client.json";

// rule: A18
/// A18: registered by hand, otherwise by document, otherwise by dynamic registration, otherwise an error.
#[tokio::test]
async fn the_best_way_to_be_known_is_taken() {
    let world = World::new().await;
    world.set_server("client_id_metadata_document_supported", json!(true));
    let client = || oauth().client_document(DOCUMENT);
    world
        .request(&client().client(Registered::new("by-hand")))
        .await
        .unwrap();
    world.request(&client()).await.unwrap();
    world.set_server("client_id_metadata_document_supported", json!(false));
    world.request(&client()).await.unwrap();
    let ids: Vec<_> = world
        .at("/authorize")
        .iter()
        .map(|seen| seen.param("client_id").unwrap())
        .collect();
    assert_eq!(ids, ["by-hand", DOCUMENT, "registered-1"]);
    assert_eq!(world.at("/register").len(), 1);
    world.set_server("registration_endpoint", json!(null));
    let error = world.error(&client()).await;
    assert_eq!(error.step(), Step::Registration);
    assert!(error.advice().unwrap().contains("by hand"), "{error}");
}

// rule: A17
/// A17: an `https` URL with a path.
#[tokio::test]
async fn a_document_that_cannot_be_one_is_refused_here() {
    let world = World::new().await;
    world.set_server("client_id_metadata_document_supported", json!(true));
    for document in [
        "https://app.example/",
        "http://app.example/client.json",
        "client.json",
    ] {
        let error = world.error(&oauth().client_document(document)).await;
        assert_eq!(error.step(), Step::Setup, "{document}");
    }
    assert!(world.at("/authorize").is_empty());
}

// rule: A16, A26
/// A16 and A19: the content of a registration request.
#[tokio::test]
async fn an_introduction_says_what_kind_of_application_it_is() {
    let world = World::new().await;
    world.request(&oauth()).await.unwrap();
    let said = world.at("/register")[0].json();
    assert_eq!(said["application_type"], "native");
    assert_eq!(said["client_name"], "my-app");
    assert_eq!(
        said["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(
        said["redirect_uris"],
        json!(["http://127.0.0.1:9/callback"])
    );
}

// rule: A16
/// A16: a registration may be rejected.
#[tokio::test]
async fn an_introduction_that_is_refused_is_told_with_what_to_do() {
    let world = World::new().await;
    world.rule(|seen| {
        (seen.path == "/register").then(|| {
            Answer::json(
                400,
                &json!({"error": "invalid_redirect_uri", "error_description": "no"}),
            )
        })
    });
    let error = world.error(&oauth()).await;
    assert_eq!(error.oauth_error(), Some("invalid_redirect_uri"));
    assert!(error.advice().unwrap().contains("native"), "{error}");
}

// rule: A15
/// A15: the credentials of one authorization server are not sent to the next.
#[tokio::test]
async fn a_server_that_moves_is_introduced_to_anew() {
    let (world, new) = (World::new().await, World::new().await);
    let oauth = oauth();
    world.request(&oauth).await.unwrap();
    world.set_resource("authorization_servers", json!([new.url]));
    world.plan().accepted.clear();
    new.rule(|seen| {
        (seen.path == "/register").then(|| Answer::json(201, &json!({"client_id": "new-client"})))
    });
    new.rule(|seen| {
        let answer = json!({"access_token": "moved", "token_type": "Bearer"});
        (seen.path == "/token").then(|| Answer::json(200, &answer))
    });
    world.plan().accepted.insert("moved".to_owned());
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(
        new.at("/authorize")[0].param("client_id").unwrap(),
        "new-client"
    );
    assert!(
        new.log()
            .iter()
            .all(|seen| !format!("{seen:?}").contains("registered-1"))
    );
    assert!(
        new.log()
            .iter()
            .all(|seen| !format!("{seen:?}").contains("t0ken"))
    );
}

// rule: A15
/// A15: a client that is registered by hand belongs to its issuer.
#[tokio::test]
async fn a_client_registered_elsewhere_is_not_shown() {
    let (world, new) = (World::new().await, World::new().await);
    let client = Registered::new("by-hand").with_secret("sesame");
    let named = oauth().client(client.clone().at_issuer("https://other.example"));
    let error = world.error(&named).await;
    assert!(
        matches!(error.problem(), Problem::Mismatch { .. }),
        "{error}"
    );
    assert!(error.advice().unwrap().contains("register"), "{error}");
    // If no issuer is set, the client belongs to the first one that it is used with.
    world.set_server(
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_post"]),
    );
    let unnamed = oauth().client(client);
    world.request(&unnamed).await.unwrap();
    world.set_resource("authorization_servers", json!([new.url]));
    world.plan().accepted.clear();
    let error = world.error(&unnamed).await;
    assert_eq!(error.step(), Step::Registration);
    assert!(
        new.log()
            .iter()
            .all(|seen| !format!("{seen:?}").contains("sesame"))
    );
}

/// If there are several authorization servers, the one that knows the client is chosen.
#[tokio::test]
async fn the_issuer_that_knows_the_client_is_chosen() {
    let world = World::new().await;
    world.set_resource(
        "authorization_servers",
        json!(["https://first.example", world.url]),
    );
    let client = Registered::new("by-hand").at_issuer(&*world.url);
    world.request(&oauth().client(client)).await.unwrap();
    assert_eq!(
        world.at("/authorize")[0].param("client_id").unwrap(),
        "by-hand"
    );
}

#[tokio::test]
async fn a_registration_that_is_gone_is_made_anew_the_next_time() {
    let world = World::new().await;
    let oauth = oauth().store(MemoryStore::new());
    world.rule(|seen| {
        let is_old = seen.param("client_id").as_deref() == Some("registered-1");
        (seen.path == "/token" && is_old)
            .then(|| Answer::json(401, &json!({"error": "invalid_client"})))
    });
    let error = world.error(&oauth).await;
    assert_eq!(error.oauth_error(), Some("invalid_client"));
    world.rule(|seen| {
        (seen.path == "/register").then(|| Answer::json(201, &json!({"client_id": "registered-2"})))
    });
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(world.at("/register").len(), 2);
}

/// An authorization server shows the user an error if it no longer knows the client. The user does not come back.
#[tokio::test]
async fn a_client_that_was_forgotten_can_register_again() {
    let world = World::new().await;
    let store = MemoryStore::new();
    let oauth = || oauth().store(store.clone());
    world.request(&oauth()).await.unwrap();
    world.rule(|seen| match seen.path.as_str() {
        "/register" => Some(Answer::json(201, &json!({"client_id": "registered-2"}))),
        "/authorize" if seen.param("client_id").as_deref() == Some("registered-1") => {
            Some(Answer::json(400, &json!({"error": "invalid_client"})))
        }
        _ => None,
    });
    world.plan().accepted.clear();
    let error = world.error(&oauth()).await;
    assert_eq!(error.step(), Step::Authorization);
    world.request(&oauth().register_again()).await.unwrap();
    assert_eq!(world.at("/register").len(), 2);
    // The new registration is kept.
    world.plan().accepted.clear();
    world.request(&oauth()).await.unwrap();
    assert_eq!(world.at("/register").len(), 2);
}

/// Metadata is read even if it has unknown or empty members.
#[tokio::test]
async fn unknown_and_empty_members_do_no_harm() {
    let world = World::new().await;
    let mut document = server_metadata(&world.url);
    document["scopes_supported"] = json!(null);
    document["new_member"] = json!({"a": [1]});
    let path = "/.well-known/oauth-authorization-server".to_owned();
    world.plan().documents.insert(path, document);
    world.request(&oauth()).await.unwrap();
}
