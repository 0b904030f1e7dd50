//! Callers that sign in to a server themselves (OAuth), each with tokens of its own.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_core::future::BoxFuture;
use http::{StatusCode, Uri};
use sha2::{Digest as _, Sha256};
use tokio::sync::{oneshot, watch};
use turnbuckle::{
    Caller, HttpText, HttpTexts,
    auth::{
        Secret,
        client::{AuthorizationRequest, Browser, FileStore, OAuth, Visit},
    },
    client::HttpTarget,
    gateway::personal::{CallerAccess, SignIn, SignInState},
    host::ServerSpec,
};

/// The path that authorization servers send users back to.
pub(super) const CALLBACK: &str = "/oauth/callback";

/// How long a user may take to sign in.
const WITHIN: Duration = Duration::from_mins(10);

/// How many sign-ins wait for their users, of all callers.
const MAX_WAITING: usize = 256;

/// How many callers are remembered that have to sign in again. One more is told so by the server.
const MAX_REFUSED: usize = 1_024;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Users who are on their way back, by the `state` that they come with.
#[derive(Clone, Default)]
pub(super) struct Visitors {
    waiting: Arc<Mutex<HashMap<String, Visitor>>>,
    /// Where they come back to, once the gateway listens.
    redirect: Arc<Mutex<Option<String>>>,
}

/// A user on the way.
struct Visitor {
    /// Where the URL goes that the user comes back with.
    tell: oneshot::Sender<Secret>,
    state: watch::Sender<SignInState>,
}

impl Visitor {
    /// The user has come back. False if the sign-in is over.
    fn come_back(self, uri: &Uri) -> bool {
        if self.tell.send(Secret::new(uri.to_string())).is_err() {
            return false;
        }
        // It may have ended by now.
        self.state.send_if_modified(|state| {
            let is_away = *state == SignInState::Away;
            if is_away {
                *state = SignInState::Back;
            }
            is_away
        });
        true
    }
}

impl Visitors {
    /// Says where the gateway is, as a browser reaches it.
    pub(super) fn come_to(&self, base: &str) {
        let base = base.trim_end_matches('/');
        *locked(&self.redirect) = Some(format!("{base}{CALLBACK}"));
    }

    /// These texts, and an answer for users who come back.
    pub(super) fn or(self, texts: HttpTexts) -> HttpTexts {
        HttpTexts::new(move |uri| self.welcome(uri).or_else(|| texts.find(uri)))
    }

    /// Answers a user who comes back.
    fn welcome(&self, uri: &Uri) -> Option<HttpText> {
        if uri.path() != CALLBACK {
            return None;
        }
        let query = uri.query().unwrap_or_default();
        let state = parameter(query, "state");
        let waiting = state.and_then(|state| locked(&self.waiting).remove(&state));
        let (status, said) = if waiting.is_some_and(|visitor| visitor.come_back(uri)) {
            (StatusCode::OK, "Thank you. You can close this page.")
        } else {
            let said = "This sign-in is over or was never begun. Begin again in your client.";
            (StatusCode::BAD_REQUEST, said)
        };
        let page = format!("<!doctype html><meta charset=utf-8><title>Sign-in</title><p>{said}");
        Some(HttpText::new(status, "text/html; charset=utf-8", page))
    }
}

/// One server that callers sign in to.
pub(super) struct SignInAccess {
    url: String,
    target: HttpTarget,
    /// Settings of the client at the authorization server.
    client: OAuth,
    visitors: Visitors,
    /// Sign-ins that have begun, by the names of the callers' stores.
    begun: Mutex<HashMap<String, SignIn>>,
    /// The stores whose tokens the server has refused for good.
    refused: Arc<Mutex<HashSet<String>>>,
    server: String,
}

impl SignInAccess {
    pub(super) fn new(
        server: &str,
        url: &str,
        target: HttpTarget,
        client: OAuth,
        visitors: Visitors,
    ) -> Self {
        Self {
            url: url.to_owned(),
            target,
            client,
            visitors,
            begun: Mutex::default(),
            refused: Arc::default(),
            server: server.to_owned(),
        }
    }

    /// The tokens of a caller. Nothing but this caller's are in the store.
    fn tokens(&self, caller: &Caller, browser: impl Browser + 'static) -> Result<OAuth, String> {
        let store = FileStore::open(&store_name(&self.server, caller));
        let store = store.map_err(|error| error.to_string())?;
        Ok(self.client.clone().store(store).browser(browser))
    }
}

/// Where the tokens of a caller for a server are kept: a name that tells nothing about the caller, and is
/// no other caller's.
fn store_name(server: &str, caller: &Caller) -> String {
    let mut digest = Sha256::new();
    for part in [server, caller.id().unwrap_or_default()] {
        digest.update(part.len().to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest.update([u8::from(caller.id().is_some())]);
    let mut name = "gateway-".to_owned();
    for byte in &digest.finalize()[..16] {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

impl CallerAccess for SignInAccess {
    fn way<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async move {
            // A call never sends a user to a browser: there is a tool for that.
            let store = store_name(&self.server, caller);
            let browser = NoBrowser {
                store: store.clone(),
                refused: Arc::clone(&self.refused),
            };
            let tokens = self.tokens(caller, browser).ok()?;
            if locked(&self.refused).contains(&store) || !tokens.is_signed_in(&self.url).await {
                return None;
            }
            let target = self.target.clone();
            Some(ServerSpec::from_fn(move || {
                target.clone().authorize(tokens.clone()).into()
            }))
        })
    }

    fn sign_in<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async move {
            let key = store_name(&self.server, caller);
            {
                let mut begun = locked(&self.begun);
                begun.retain(|_, begun| !is_ended(&begun.state.borrow()));
                if let Some(begun) = begun.get(&key) {
                    return Ok(begun.clone());
                }
                if begun.len() >= MAX_WAITING {
                    return Err("too many users are signing in; try again later".to_owned());
                }
            }
            let (shown, mut url) = watch::channel(None);
            let redirect = locked(&self.visitors.redirect).clone();
            let redirect = redirect.ok_or(
                "this gateway serves on stdin and stdout, so that a browser cannot come back to it",
            )?;
            let (tell, state) = watch::channel(SignInState::Away);
            let tokens = self.tokens(
                caller,
                CallbackBrowser(CallbackVisit {
                    redirect,
                    visitors: self.visitors.clone(),
                    shown,
                    state: tell.clone(),
                }),
            )?;
            let server = self.url.clone();
            if locked(&self.refused).remove(&key) {
                // They are of no use; whether the authorization server takes them back or not.
                let _ = tokens.sign_out(&server).await;
            }
            tokio::spawn(async move {
                let done = tokio::time::timeout(WITHIN, tokens.sign_in(&server)).await;
                let outcome = match done {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err("the user did not sign in in time".to_owned()),
                };
                tell.send_replace(SignInState::Ended(outcome));
            });
            let mut ended = state.clone();
            let url = tokio::select! {
                shown = url.wait_for(Option::is_some) => match shown {
                    Ok(shown) => shown.clone().unwrap_or_default(),
                    Err(_) => String::new(),
                },
                _ = ended.wait_for(is_ended) => String::new(),
            };
            if let SignInState::Ended(Err(reason)) = &*state.borrow() {
                return Err(reason.clone());
            }
            let begun = SignIn::new(url, state);
            locked(&self.begun).insert(key, begun.clone());
            Ok(begun)
        })
    }
}

fn is_ended(state: &SignInState) -> bool {
    matches!(state, SignInState::Ended(_))
}

/// Sends users to authorization servers by a link, and hears of them at the gateway's own address.
struct CallbackBrowser(CallbackVisit);

#[derive(Clone)]
struct CallbackVisit {
    redirect: String,
    visitors: Visitors,
    shown: watch::Sender<Option<String>>,
    state: watch::Sender<SignInState>,
}

impl Browser for CallbackBrowser {
    fn prepare<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Box<dyn Visit>, BoxError>> {
        let visit = self.0.clone();
        Box::pin(async move { Ok(Box::new(visit) as Box<dyn Visit>) })
    }
}

impl Visit for CallbackVisit {
    fn redirect_uri(&self) -> &str {
        &self.redirect
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move {
            let query = request.url().split_once('?').map_or("", |(_, query)| query);
            let state = parameter(query, "state").ok_or("the request has no state")?;
            let (tell, told) = oneshot::channel();
            {
                let mut waiting = locked(&self.visitors.waiting);
                waiting.retain(|_, visitor| !visitor.tell.is_closed());
                let visitor = Visitor {
                    tell,
                    state: self.state.clone(),
                };
                waiting.insert(state, visitor);
            }
            self.shown.send_replace(Some(request.url().to_owned()));
            told.await.map_err(|_| "the sign-in was given up".into())
        })
    }
}

/// Users do not sign in in the middle of a call: it is noted that they have to.
struct NoBrowser {
    store: String,
    refused: Arc<Mutex<HashSet<String>>>,
}

impl Browser for NoBrowser {
    fn prepare<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Box<dyn Visit>, BoxError>> {
        let mut refused = locked(&self.refused);
        if refused.len() < MAX_REFUSED {
            refused.insert(self.store.clone());
        }
        Box::pin(async { Err("the caller has to sign in again".into()) })
    }
}

/// The value of a parameter of a query, as it is written: a `state` has no characters to decode.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(key, _)| *key == name)?;
    Some(found.1.to_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
