//! Callers that sign in to a server themselves (OAuth), each with tokens of its own.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use futures_core::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
};
use turnbuckle::{
    Caller,
    auth::{
        Secret,
        client::{AuthorizationRequest, Browser, FileStore, OAuth, Visit},
    },
    client::HttpTarget,
    gateway::personal::{CallerAccess, SignIn, SignInState},
    host::ServerSpec,
};

use super::pending_sign_ins::{PendingSignIn, PendingSignIns, WITHIN, locked, parameter};

/// How many callers are remembered that have to sign in again. One more is told so by the server.
const MAX_REFUSED: usize = 1_024;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One server that callers sign in to.
pub(super) struct SignInAccess {
    url: String,
    target: HttpTarget,
    /// Settings of the client at the authorization server.
    client: OAuth,
    pending: PendingSignIns,
    /// Sign-ins that have begun, by the names of the callers' stores: one for each caller.
    begun: Mutex<HashMap<String, BegunSignIn>>,
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
        pending: PendingSignIns,
    ) -> Self {
        Self {
            url: url.to_owned(),
            target,
            client,
            pending,
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
            let (mut url, state) = self.begin(caller)?;
            let mut ended = state.clone();
            let url = tokio::select! {
                shown = url.wait_for(Option::is_some) => match shown {
                    Ok(shown) => shown.clone(),
                    Err(_) => None,
                },
                _ = ended.wait_for(is_ended) => None,
            };
            let reason = match (&url, &*state.borrow()) {
                (_, SignInState::Ended(Err(reason))) => Some(reason.clone()),
                (Some(_), _) | (None, SignInState::Ended(Ok(()))) => None,
                (None, _) => Some("the sign-in was given up".to_owned()),
            };
            match reason {
                Some(reason) => Err(reason),
                None => Ok(SignIn::new(url.unwrap_or_default(), state)),
            }
        })
    }
}

/// A sign-in under way. Its task ends with it.
struct BegunSignIn {
    /// Where the user goes, once that is known.
    url: watch::Receiver<Option<String>>,
    state: watch::Receiver<SignInState>,
    task: AbortHandle,
}

impl Drop for BegunSignIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SignInAccess {
    /// Begins a sign-in of the caller, or finds the one under way. It goes on if the call that began it
    /// is cancelled, so it is noted before anything is awaited.
    fn begin(&self, caller: &Caller) -> Result<BegunChannels, String> {
        let key = store_name(&self.server, caller);
        let mut begun = locked(&self.begun);
        begun.retain(|_, begun| !begun.task.is_finished() && !is_ended(&begun.state.borrow()));
        if let Some(begun) = begun.get(&key) {
            return Ok((begun.url.clone(), begun.state.clone()));
        }
        let place = self.pending.place();
        let place = place.ok_or("too many users are signing in; try again later")?;
        let redirect = self.pending.redirect().ok_or(
            "this gateway serves on stdin and stdout, so that a browser cannot come back to it",
        )?;
        let (shown, url) = watch::channel(None);
        let (tell, state) = watch::channel(SignInState::Away);
        let visit = CallbackVisit {
            redirect,
            pending: self.pending.clone(),
            caller: caller.id().map(str::to_owned),
            server: self.server.clone(),
            shown,
            state: tell.clone(),
        };
        let tokens = self.tokens(caller, CallbackBrowser(visit))?;
        let was_refused = locked(&self.refused).remove(&key);
        let server = self.url.clone();
        let task = tokio::spawn(async move {
            let _place = place;
            let outcome = sign_in_anew(&tokens, &server, was_refused).await;
            tell.send_replace(SignInState::Ended(outcome));
        });
        let channels = (url.clone(), state.clone());
        let task = task.abort_handle();
        begun.insert(key, BegunSignIn { url, state, task });
        Ok(channels)
    }
}

/// Where the user goes, and how far the sign-in is.
type BegunChannels = (
    watch::Receiver<Option<String>>,
    watch::Receiver<SignInState>,
);

/// Signs in, after it has given back tokens that the server has refused.
async fn sign_in_anew(tokens: &OAuth, server: &str, was_refused: bool) -> Result<(), String> {
    let signing_in = async {
        if was_refused {
            // They are of no use; whether the authorization server takes them back or not.
            let _ = tokens.sign_out(server).await;
        }
        tokens.sign_in(server).await
    };
    match tokio::time::timeout(WITHIN, signing_in).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the user did not sign in in time".to_owned()),
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
    pending: PendingSignIns,
    caller: Option<String>,
    server: String,
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
            let pending = PendingSignIn {
                caller: self.caller.clone(),
                server: self.server.clone(),
                tell,
                state: self.state.clone(),
                visit: None,
            };
            let _registration = self.pending.register(&state, pending);
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
