//! A client, an authorization server and a guarded server together.

use serde_json::Value;
use turnbuckle_auth::Secret;
use turnbuckle_auth::client::{AuthError, Dpop, Loopback, OAuth, Problem, Registered, Step};
use turnbuckle_auth::jose::{JwkSet, SigningKey};
use turnbuckle_auth::server::Issuer;
use turnbuckle_base::error_chain::find;
use turnbuckle_client::{CallError, Client, ConnectError, Connection, HttpTarget};
use turnbuckle_test_authorization::{AuthorizationServer, Fault};

use crate::client::world::{get, oauth, visit};
use crate::server::site::Site;

async fn connect(site: &Site, oauth: OAuth) -> Result<Connection, ConnectError> {
    let target = HttpTarget::new(&*site.resource).authorize(oauth);
    Client::new("test", "1.0.0").connect(target).await
}

async fn caller(server: &Connection, tool: &str) -> Result<Value, CallError> {
    let output = server.call(tool, ()).await?;
    Ok(serde_json::from_str(&output.text()).expect("the caller as JSON"))
}

#[tokio::test]
async fn a_person_signs_in_by_their_browser_and_is_known() {
    let site = Site::start().await;
    let browser = Loopback::new().without_opening().announce(|request| {
        let url = request.url().to_owned();
        tokio::spawn(async move {
            let back = visit(&url).await.unwrap();
            get(back.expose()).await
        });
    });
    let server = connect(&site, OAuth::new("my-app").browser(browser))
        .await
        .unwrap();
    let caller = caller(&server, "whoami").await.unwrap();
    assert!(caller["identity"]["subject"].is_string(), "{caller}");
    assert_eq!(caller["identity"]["issuer"], site.issuer.url());
}

/// The guard names the missing scopes, and the client requests them.
#[tokio::test]
async fn a_tool_that_needs_more_gets_more() {
    let site = Site::with(|guard| guard.scopes(["notes:read"])).await;
    let server = connect(&site, oauth()).await.unwrap();
    let before = caller(&server, "whoami").await.unwrap();
    assert_eq!(before["scopes"], serde_json::json!(["notes:read"]));
    let after = caller(&server, "write").await.unwrap();
    let scopes = after["scopes"].to_string();
    assert!(
        scopes.contains("notes:read") && scopes.contains("notes:write"),
        "{scopes}"
    );
    assert_eq!(site.asked("/authorize"), 2);
}

/// Neither renewing nor signing in again helps, so the client gives up.
#[tokio::test]
async fn a_server_whose_clock_is_wrong_is_told_of() {
    let site = Site::start().await;
    let server = connect(&site, oauth()).await.unwrap();
    caller(&server, "whoami").await.unwrap();
    site.pass(24 * 60 * 60);
    let error = caller(&server, "whoami").await.unwrap_err();
    assert_eq!(auth_error(&error).problem(), &Problem::StillRefused);
    assert_eq!(site.asked("/authorize"), 2);
    assert_eq!(site.asked("/token"), 3);
}

#[tokio::test]
async fn tokens_are_bound_to_a_key_with_nonces_on_the_way() {
    let site = Site::start().await;
    site.issuer.order(Fault::DemandNonce);
    let server = connect(&site, oauth().dpop(Dpop::Required)).await.unwrap();
    for _ in 0..3 {
        caller(&server, "whoami").await.unwrap();
    }
}

#[tokio::test]
async fn machines_sign_in_with_a_secret_or_a_key() {
    let key = SigningKey::generate().unwrap();
    let keys = JwkSet::new([key.public_key()]);
    let issuer = AuthorizationServer::new()
        .client("secret", "sesame", Vec::<String>::new())
        .client_with_keys("key", keys);
    let issuer = issuer.start().await.unwrap();
    let trusted = Issuer::new(issuer.url());
    let site = Site::of(issuer, trusted, |guard| guard).await;
    for client in [
        Registered::new("secret").with_secret("sesame"),
        Registered::new("key").with_key(key),
    ] {
        let robot = OAuth::new("robot").client_credentials(client.at_issuer(site.issuer.url()));
        let server = connect(&site, robot).await.unwrap();
        caller(&server, "whoami").await.unwrap();
    }
    let wrong = Registered::new("secret").with_secret("guess");
    let error = connect(&site, OAuth::new("robot").client_credentials(wrong))
        .await
        .unwrap_err();
    assert!(!format!("{error:?}").contains("guess"));
    assert_eq!(auth_error(&error).oauth_error(), Some("invalid_client"));
}

/// The authorization server verifies an assertion of the client's platform.
#[tokio::test]
async fn a_platform_vouches() {
    let platform = SigningKey::generate().unwrap();
    let trusted = JwkSet::new([platform.public_key()]);
    let issuer = AuthorizationServer::new().trust("https://platform.example", trusted);
    let issuer = issuer.start().await.unwrap();
    let trusted = Issuer::new(issuer.url());
    let site = Site::of(issuer, trusted, |guard| guard).await;
    let platform = std::sync::Arc::new(platform);
    let word = move |audience: String| {
        let platform = platform.clone();
        async move {
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)?
                .as_secs();
            let claims = serde_json::json!({
                "iss": "https://platform.example", "sub": "pod-7", "aud": audience,
                "iat": now, "exp": now + 60, "jti": format!("{now}-{}", std::process::id()),
            });
            Ok(Secret::new(platform.sign("JWT", &claims)?))
        }
    };
    let server = connect(&site, OAuth::new("pod").workload(word))
        .await
        .unwrap();
    let caller = caller(&server, "whoami").await.unwrap();
    assert_eq!(caller["identity"]["subject"], "pod-7");
}

/// Every fault of the authorization server is reported as what it is, with its step.
#[tokio::test]
async fn faults_are_told_by_their_step() {
    let site = Site::start().await;
    let evil = "https://evil.example".to_owned();
    for (fault, step) in [
        (Fault::MetadataIssuer(evil.clone()), Step::ServerMetadata),
        (Fault::NoPkceInMetadata, Step::ServerMetadata),
        (Fault::MissingIss, Step::AuthorizationResponse),
        (Fault::WrongIss(evil.clone()), Step::AuthorizationResponse),
        (Fault::WrongState, Step::AuthorizationResponse),
        (Fault::Denied, Step::AuthorizationResponse),
        (Fault::WrongAudience(evil), Step::Use),
        (Fault::UnknownKey, Step::Use),
    ] {
        site.issuer.order(fault.clone());
        let error = connect(&site, oauth()).await.unwrap_err();
        assert_eq!(auth_error(&error).step(), step, "{fault:?}");
        site.issuer.clear();
    }
    connect(&site, oauth()).await.unwrap();
}

fn auth_error(error: &(dyn std::error::Error + 'static)) -> AuthError {
    let found = find::<AuthError>(error);
    let found = found.unwrap_or_else(|| panic!("no error of authorization in {error:?}"));
    assert_ne!(found.problem(), &Problem::Unreachable);
    found.clone()
}
