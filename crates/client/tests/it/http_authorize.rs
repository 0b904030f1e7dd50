//! Headers of the application, and the hook for credentials.

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use turnbuckle_client::{
    CallError, ConnectError,
    protocol::Revision,
    transport::http::client::{
        Authorize, BoxError, Challenge, Decision, HeaderValue, MAX_CHALLENGES, RequestHead,
        ResponseHead,
    },
};

use crate::http_site::{Site, chain, discovered, initialized, plain, text};

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Returns a token with the number of refusals.
#[derive(Clone, Default)]
struct Tokens {
    refused: Arc<AtomicUsize>,
    gives_up: bool,
}

impl Authorize for Tokens {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let number = self.refused.load(Ordering::Relaxed);
        let token = HeaderValue::try_from(format!("Bearer sesame-{number}")).unwrap();
        request.headers.insert("authorization", token);
        Box::pin(ready(Ok(())))
    }

    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        let wanted: Vec<_> = refusal.www_authenticate().iter().collect();
        assert_eq!(wanted, ["Bearer realm=\"x\""]);
        let number = self.refused.load(Ordering::Relaxed);
        let sent = format!("Bearer sesame-{number}");
        assert_eq!(refusal.sent["authorization"], sent);
        assert_eq!(refusal.attempt, number);
        self.refused.fetch_add(1, Ordering::Relaxed);
        let decision = if self.gives_up {
            Decision::GiveUp
        } else {
            Decision::Retry
        };
        Box::pin(ready(Ok(decision)))
    }
}

/// A server that accepts this token.
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

// rule: A1
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
        // authorization: with every request, and never in the query.
        assert_eq!(heard.header("authorization"), Some("Bearer fixed"));
        assert!(!heard.path.contains('?'), "{}", heard.path);
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
    for (gives_up, requests) in [(true, 1), (false, 1 + MAX_CHALLENGES)] {
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

/// Returns one token, and fails after that.
struct Broken(AtomicUsize);

impl Authorize for Broken {
    fn authorize<'a>(&'a self, _: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
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
    let CallError::Authorization { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(source.to_string(), "no keyring");
    assert_eq!(site.lines(), ["POST server/discover"]);
}

/// A hook for proofs of possession, which must see every request and every nonce.
#[derive(Clone, Default)]
struct Proofs {
    nonce: Arc<Mutex<Option<HeaderValue>>>,
    made: Arc<AtomicUsize>,
}

impl Authorize for Proofs {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let nonce = self.nonce.lock().unwrap().clone();
        let nonce = nonce.as_ref().map_or("none", |it| it.to_str().unwrap());
        let RequestHead {
            method, address, ..
        } = request;
        let proof = format!("{number} {method} {address} {nonce}");
        let proof = HeaderValue::try_from(proof).unwrap();
        request.headers.insert("dpop", proof);
        Box::pin(ready(Ok(())))
    }

    fn answered(&self, answer: ResponseHead<'_>) {
        if let Some(nonce) = answer.headers.get("dpop-nonce") {
            *self.nonce.lock().unwrap() = Some(nonce.clone());
        }
    }

    fn challenged<'a>(&'a self, _: Challenge<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(ready(Ok(Decision::Retry)))
    }
}

/// A session whose server requires another nonce with each request, and names it in the previous
/// response, whether that is an error or not.
async fn nonces() -> Site {
    let next = Arc::new(AtomicUsize::new(0));
    Site::start(move |heard, answer| {
        let next = next.clone();
        Box::pin(async move {
            let wanted = format!(" n{}", next.load(Ordering::Relaxed));
            let is_right = heard.header("dpop").unwrap().ends_with(&wanted);
            let nonce = format!("n{}", next.fetch_add(1, Ordering::Relaxed) + 1);
            let mut headers = vec![("dpop-nonce", nonce.as_str())];
            if !is_right {
                headers.push(("www-authenticate", "DPoP error=\"use_dpop_nonce\""));
                return answer.full(401, &headers, "").await;
            }
            let result = match heard.line().as_str() {
                "POST initialize" => initialized(Revision::LATEST_LEGACY),
                "POST tools/call" => text("in"),
                "GET" => return answer.full(405, &headers, "").await,
                "DELETE" => return answer.full(204, &headers, "").await,
                _ if heard.body["id"].is_null() => return answer.full(202, &headers, "").await,
                _ => return answer.full(400, &headers, "").await,
            };
            headers.push(("content-type", "application/json"));
            headers.push(("mcp-session-id", "s"));
            let body = heard.result(result).to_string();
            answer.full(200, &headers, &body).await;
        })
    })
    .await
}

#[tokio::test]
async fn every_attempt_has_a_proof_of_its_own_with_the_nonce_of_the_last_answer() {
    let site = nonces().await;
    let hook = Proofs::default();
    let target = site.target().authorize(hook.clone());
    let server = plain().connect(target).await.unwrap();
    site.wait_for("GET", 1).await;
    assert_eq!(server.call("t", ()).await.unwrap().text(), "in");
    server.close().await;
    let proofs: Vec<_> = site
        .heard()
        .iter()
        .map(|heard| (heard.verb.clone(), heard.header("dpop").unwrap().to_owned()))
        .collect();
    assert_eq!(hook.made.load(Ordering::Relaxed), proofs.len());
    for (verb, proof) in &proofs {
        let mut parts = proof.split(' ').skip(1);
        assert_eq!(parts.next(), Some(verb.as_str()), "{proofs:?}");
        assert_eq!(parts.next(), Some(site.url().as_str()), "{proofs:?}");
    }
    let verbs: Vec<_> = proofs.iter().map(|(verb, _)| verb.as_str()).collect();
    for verb in ["POST", "GET", "DELETE"] {
        assert!(verbs.contains(&verb), "{verbs:?}");
    }
    // Only the first request had no nonce. While the stream is opened and a call is made at the same
    // time, one of the two may have an old nonce.
    assert_eq!(site.count("POST server/discover"), 2);
    assert_eq!(site.count("POST initialize"), 1);
}

/// Fails to get a token when the server requires one.
struct Refused;

impl Authorize for Refused {
    fn authorize<'a>(&'a self, _: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(ready(Ok(())))
    }

    fn challenged<'a>(&'a self, _: Challenge<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(ready(Err("nobody signed in".into())))
    }
}

#[tokio::test]
async fn a_hook_that_fails_while_connecting_is_the_error() {
    let site = guarded("nobody").await;
    let target = site.target().authorize(Refused);
    let error = plain().connect(target).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Authorization { .. }),
        "{error:?}"
    );
    assert!(chain(&error).ends_with(": nobody signed in"), "{error:?}");
    assert_eq!(site.heard().len(), 1);
}

/// Takes longer than any deadline here to get a token, once for each refusal.
struct Slow {
    has_token: AtomicBool,
}

impl Authorize for Slow {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        if self.has_token.load(Ordering::Relaxed) {
            let token = HeaderValue::from_static("Bearer slow");
            request.headers.insert("authorization", token);
        }
        Box::pin(ready(Ok(())))
    }

    fn challenged<'a>(&'a self, _: Challenge<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async {
            tokio::time::sleep(4 * IMPATIENT).await;
            self.has_token.store(true, Ordering::Relaxed);
            Ok(Decision::Retry)
        })
    }
}

const IMPATIENT: Duration = Duration::from_millis(150);

#[tokio::test]
async fn the_time_of_a_sign_in_does_not_count_against_deadlines() {
    let is_known = Arc::new(AtomicBool::new(true));
    let known = is_known.clone();
    let site = Site::start(move |heard, answer| {
        let known = known.clone();
        Box::pin(async move {
            let is_in = heard.header("authorization") == Some("Bearer slow");
            // In the middle of the connection the token is refused once more.
            let is_let_in =
                is_in && (heard.method() != "tools/call" || known.swap(true, Ordering::Relaxed));
            if !is_let_in {
                return answer
                    .full(401, &[("www-authenticate", "Bearer")], "")
                    .await;
            }
            let result = match heard.method() {
                "server/discover" => discovered(),
                _ => text("in"),
            };
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await;
    let target = site.target().authorize(Slow {
        has_token: AtomicBool::new(false),
    });
    let client = plain()
        .probe_timeout(IMPATIENT)
        .handshake_timeout(IMPATIENT)
        .deadline(IMPATIENT);
    let server = client.connect(target).await.unwrap();
    // One request, sent again after the user had signed in.
    assert_eq!(
        site.lines(),
        ["POST server/discover", "POST server/discover"]
    );
    is_known.store(false, Ordering::Relaxed);
    assert_eq!(server.call("t", ()).await.unwrap().text(), "in");
    assert_eq!(site.count("POST tools/call"), 2);
}
