//! Keys of issuers: fetching, caching and rotation.

use turnbuckle_auth::{jose::SigningKey, server::Issuer};
use turnbuckle_test_authorization::{AuthorizationServer, Endpoint, Fault};

use super::site::Site;

#[tokio::test]
async fn keys_are_fetched_once_and_again_when_a_new_one_turns_up() {
    let site = Site::start().await;
    for _ in 0..5 {
        let token = site.token().mint();
        assert_eq!(site.call("whoami", &token).await.status, 200);
    }
    assert_eq!(site.asked("/jwks"), 1);
    site.issuer.rotate_keys().expect("a key");
    let token = site.token().mint();
    // Keys were just fetched, so the next fetch has to wait.
    site.pass(11);
    assert_eq!(site.call("whoami", &token).await.status, 200);
    assert_eq!(site.asked("/jwks"), 2);
}

#[tokio::test]
async fn unknown_keys_do_not_make_us_hammer_the_issuer() {
    let site = Site::start().await;
    assert_eq!(site.call("whoami", &site.token().mint()).await.status, 200);
    site.issuer.order(Fault::UnknownKey);
    for _ in 0..20 {
        let token = site.token().mint();
        site.call("whoami", &token)
            .await
            .is_refused(401, "no key of the issuer");
    }
    assert_eq!(site.asked("/jwks"), 1);
    site.pass(11);
    for _ in 0..20 {
        let token = site.token().mint();
        site.call("whoami", &token)
            .await
            .is_refused(401, "no key of the issuer");
    }
    assert_eq!(site.asked("/jwks"), 2);
}

#[tokio::test]
async fn many_callers_wait_for_one_fetch() {
    let site = Site::start().await;
    let tokens: Vec<_> = (0..8).map(|_| site.token().mint()).collect();
    let calls = tokens.iter().map(|token| site.call("whoami", token));
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    let answers = std::future::poll_fn(|context| {
        use std::{future::Future as _, task::Poll};
        calls.retain_mut(|call| match call.as_mut().poll(context) {
            Poll::Ready(answer) => {
                assert_eq!(answer.status, 200);
                false
            }
            Poll::Pending => true,
        });
        if calls.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    answers.await;
    assert_eq!(site.asked("/jwks"), 1);
}

#[tokio::test]
async fn tokens_are_refused_while_the_issuer_is_down() {
    let site = Site::start().await;
    site.issuer.order(Fault::Status(Endpoint::Keys, 500));
    let token = site.token().mint();
    let answer = site.call("whoami", &token).await;
    answer.is_refused(503, "at the moment");
    assert_eq!(answer.header("retry-after"), "5");
    site.issuer.clear();
    site.pass(3);
    assert_eq!(site.call("whoami", &token).await.status, 200);
    // Keys from an hour ago are used while the issuer cannot be reached; after a day they are not.
    for fault in [
        Fault::Status(Endpoint::Keys, 500),
        Fault::Garbage(Endpoint::Keys),
    ] {
        site.issuer.order(fault);
        site.pass(3600);
        let token = site.token().claim("exp", 4_000_000_000_u64).mint();
        assert_eq!(site.call("whoami", &token).await.status, 200);
        site.issuer.clear();
    }
    site.issuer.order(Fault::Status(Endpoint::Keys, 500));
    site.pass(24 * 3600);
    // The second request comes right after the first; old keys must not be used for it either.
    for _ in 0..2 {
        let token = site.token().claim("exp", 4_000_000_000_u64).mint();
        site.call("whoami", &token)
            .await
            .is_refused(503, "at the moment");
    }
}

#[tokio::test]
async fn an_issuer_without_keys_is_not_asked_for_each_token() {
    let site = Site::start().await;
    site.issuer.order(Fault::Status(Endpoint::Keys, 500));
    for _ in 0..20 {
        let token = site.token().mint();
        site.call("whoami", &token)
            .await
            .is_refused(503, "at the moment");
    }
    // All requests may end within one period of two seconds, or the clock may tick in between.
    assert!(site.asked("/jwks") <= 4, "{}", site.asked("/jwks"));
}

// RFC 8414, 3.3: metadata of another issuer MUST NOT be used.
#[tokio::test]
async fn metadata_of_another_issuer_is_not_believed() {
    let site = Site::start().await;
    site.issuer
        .order(Fault::MetadataIssuer("https://evil.example".into()));
    let token = site.token().mint();
    site.call("whoami", &token)
        .await
        .is_refused(503, "at the moment");
    assert_eq!(site.asked("/jwks"), 0);
}

#[tokio::test]
async fn keys_may_be_given_or_be_somewhere_else() {
    let issuer = AuthorizationServer::new().start().await.expect("it starts");
    let given = Issuer::new(issuer.url()).keys(issuer.keys());
    let site = Site::of(issuer, given, |guard| guard).await;
    assert_eq!(site.call("whoami", &site.token().mint()).await.status, 200);
    assert_eq!(site.issuer.requests().len(), 0);

    let issuer = AuthorizationServer::new()
        .path("/tenant")
        .start()
        .await
        .expect("it starts");
    let named = Issuer::new(issuer.url()).keys_at(format!("{}/jwks", issuer.url()));
    let site = Site::of(issuer, named, |guard| guard).await;
    assert_eq!(site.call("whoami", &site.token().mint()).await.status, 200);
    assert_eq!(site.issuer.requests(), ["GET /tenant/jwks"]);
}

#[tokio::test]
async fn every_kind_of_key_signs_tokens() {
    let rsa = SigningKey::parse_pem(include_str!("../../../src/jose/test_rsa.pem"));
    let ed25519 = SigningKey::parse_pem(
        "-----BEGIN PRIVATE KEY-----\n\
         MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
         -----END PRIVATE KEY-----",
    );
    for key in [rsa, ed25519] {
        let key = key.expect("a key");
        let issuer = AuthorizationServer::new()
            .key(key)
            .start()
            .await
            .expect("it starts");
        let trusted = Issuer::new(issuer.url());
        let site = Site::of(issuer, trusted, |guard| guard).await;
        assert_eq!(site.call("whoami", &site.token().mint()).await.status, 200);
    }
}
