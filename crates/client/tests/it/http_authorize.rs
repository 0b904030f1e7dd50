//! Headers of the application, and the hook for credentials.

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use turnbuckle_client::{
    CallError, ConnectError,
    transport::http::client::{Authorize, BoxError, Challenge, Decision, Departing, HeaderValue},
};

use crate::http_site::{Site, discovered, plain, text};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Gives a token that counts how often it was refused.
#[derive(Clone, Default)]
struct Tokens {
    refused: Arc<AtomicUsize>,
    gives_up: bool,
}

impl Authorize for Tokens {
    fn authorize<'a>(&'a self, request: Departing<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let number = self.refused.load(Ordering::Relaxed);
        let token = HeaderValue::try_from(format!("Bearer sesame-{number}")).unwrap();
        request.headers.insert("authorization", token);
        Box::pin(ready(Ok(())))
    }

    fn challenged<'a>(
        &'a self,
        challenge: &'a Challenge,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        assert_eq!(challenge.www_authenticate, ["Bearer realm=\"x\""]);
        self.refused.fetch_add(1, Ordering::Relaxed);
        let decision = if self.gives_up {
            Decision::GiveUp
        } else {
            Decision::Retry
        };
        Box::pin(ready(Ok(decision)))
    }
}

/// A server that lets this token in.
async fn guarded(token: &'static str) -> Site {
    Site::start(move |heard, answer| {
        Box::pin(async move {
            if heard.header("authorization") != Some(token) {
                return answer
                    .full(401, &[("www-authenticate", "Bearer realm=\"x\"")], "")
                    .await;
            }
            let result = if heard.method() == "server/discover" {
                discovered()
            } else {
                text("in")
            };
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await
}

#[tokio::test]
async fn a_header_goes_with_every_request() {
    let site = guarded("Bearer fixed").await;
    let target = site
        .target()
        .header("authorization", "Bearer fixed")
        .header("x-tenant", "acme");
    assert!(!format!("{target:?}").contains("fixed"));
    let server = plain().connect(target).await.unwrap();
    server.call("t", ()).await.unwrap();
    for heard in site.heard() {
        assert_eq!(heard.header("x-tenant"), Some("acme"));
    }
}

#[tokio::test]
async fn a_refused_request_is_sent_again_with_what_the_hook_gives_then() {
    let site = guarded("Bearer sesame-2").await;
    let target = site.target().authorize(Tokens::default());
    let server = plain().connect(target).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "in");
    let tokens: Vec<_> = site
        .heard()
        .iter()
        .map(|heard| heard.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(
        tokens,
        [
            "Bearer sesame-0",
            "Bearer sesame-1",
            "Bearer sesame-2",
            "Bearer sesame-2"
        ]
    );
}

#[tokio::test]
async fn a_server_that_refuses_everything_is_given_up() {
    let site = guarded("nobody").await;
    for (gives_up, requests) in [(true, 1), (false, 4)] {
        let before = site.heard().len();
        let tokens = Tokens {
            gives_up,
            ..Tokens::default()
        };
        let error = plain()
            .connect(site.target().authorize(tokens))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ConnectError::Unauthorized { status: 401, .. }),
            "{error:?}"
        );
        assert!(
            !format!("{error:?} {error}").contains("sesame"),
            "{error:?}"
        );
        assert_eq!(site.heard().len() - before, requests);
    }
}

/// Cannot get a token, after the first.
struct Broken(AtomicUsize);

impl Authorize for Broken {
    fn authorize<'a>(&'a self, _: Departing<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let is_first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
        Box::pin(ready(if is_first {
            Ok(())
        } else {
            Err("no keyring".into())
        }))
    }
}

#[tokio::test]
async fn a_hook_that_fails_sends_nothing_and_says_why() {
    let site =
        crate::http_site::modern(|_, answer| Box::pin(async move { answer.status(500).await }))
            .await;
    let target = site.target().authorize(Broken(AtomicUsize::new(0)));
    let server = plain().connect(target).await.unwrap();
    let error = server.call("t", ()).await.unwrap_err();
    let CallError::Unsent { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(source.source().unwrap().to_string(), "no keyring");
    assert_eq!(site.lines(), ["POST server/discover"]);
}
