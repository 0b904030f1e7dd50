//! Servers that callers sign in to themselves (OAuth), each with its own tokens.

use std::{collections::HashMap, sync::Arc};

use futures_core::future::BoxFuture;
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
};
use turnbuckle::{
    Caller,
    auth::{
        Secret,
        client::{AuthorizationRequest, Browser, BrowserVisit, MemoryStore, OAuth, Scopes},
    },
    client::HttpTarget,
    gateway::personal::{CallerAccess, SignIn, SignInState},
    host::ServerSpec,
};
use turnbuckle_base::lock::Mutex;

use super::pending_sign_ins::{PendingSignIn, PendingSignIns, WITHIN, parameter};
use crate::command::caller_tokens::CallerTokens;

/// For how many callers it is remembered that they must sign in again. Beyond that, the server reports it on each call.
/// Callers that have signed in are remembered without this limit: each sign-in took a user.
const MAX_NOTES: usize = 1_024;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A server that callers sign in to.
pub(super) struct SignInAccess {
    url: String,
    target: HttpTarget,
    /// The settings of the client at the authorization server.
    client: OAuth,
    pending: PendingSignIns,
    /// Sign-ins under way, by the names of the callers' stores: one for each caller.
    begun: Mutex<HashMap<String, BegunSignIn>>,
    /// The sign-ins that callers have completed or still need, by the names of their stores.
    sign_ins: Arc<Mutex<HashMap<String, SignInNote>>>,
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
            sign_ins: Arc::default(),
            server: server.to_owned(),
        }
    }

    /// The store for the tokens of this caller only.
    fn place(&self, caller: &Caller) -> CallerTokens {
        CallerTokens::new(&self.server, &self.url, caller)
    }

    /// The note about the sign-ins of a caller.
    fn note_of(&self, store: &str) -> SignInNote {
        self.sign_ins.lock().get(store).cloned().unwrap_or_default()
    }
}

impl CallerAccess for SignInAccess {
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async move {
            let place = self.place(caller);
            let note = self.note_of(place.name());
            let store = place.find(&self.client).await?;
            // A call never sends a user to a browser; a separate tool does.
            let browser = NoBrowser {
                store: place.name().to_owned(),
                number: note.number,
                sign_ins: Arc::clone(&self.sign_ins),
            };
            let tokens = self.client.clone().store(store).browser(browser);
            let is_refused = note.needed == Some(Needed::Tokens);
            if is_refused || !tokens.is_signed_in(&self.url).await {
                return None;
            }
            let target = self.target.clone();
            Some(ServerSpec::from_http(move || {
                target.clone().authorize(tokens.clone())
            }))
        })
    }

    fn wants_more(&self, caller: &Caller) -> bool {
        // Most callers need no sign-in, and making the name takes longer than this check.
        if self.sign_ins.lock().is_empty() {
            return false;
        }
        let note = self.note_of(self.place(caller).name());
        matches!(note.needed, Some(Needed::Scopes(_)))
    }

    fn credentials(&self, caller: &Caller) -> u64 {
        let place = self.place(caller);
        // The tokens are gone after `turnbuckle logout --caller`.
        if !place.exists() {
            return 0;
        }
        self.note_of(place.name()).number + 1
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
                (None, _) => Some("the sign-in was abandoned".to_owned()),
            };
            match reason {
                Some(reason) => Err(reason),
                None => Ok(SignIn::new(url.unwrap_or_default(), state)),
            }
        })
    }
}

/// A sign-in under way. Dropping it ends its task.
struct BegunSignIn {
    /// The URL for the user, once it is known.
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
    /// Begins a sign-in of the caller, or finds the one under way. It continues if the call that began it
    /// is cancelled, so it is recorded before anything is awaited.
    fn begin(&self, caller: &Caller) -> Result<BegunChannels, String> {
        let tokens = self.place(caller);
        let key = tokens.name().to_owned();
        let mut begun = self.begun.lock();
        begun.retain(|_, begun| !begun.task.is_finished() && !is_ended(&begun.state.borrow()));
        if let Some(begun) = begun.get(&key) {
            return Ok((begun.url.clone(), begun.state.clone()));
        }
        let place = self.pending.place();
        let place = place.ok_or("too many users are signing in; try again later")?;
        let redirect = self
            .pending
            .redirect()
            .ok_or("this gateway serves on stdin and stdout, so a browser cannot return to it")?;
        let (shown, url) = watch::channel(None);
        let (tell, state) = watch::channel(SignInState::Waiting);
        let visit = CallbackVisit {
            redirect,
            pending: self.pending.clone(),
            caller: caller.id().map(str::to_owned),
            server: self.server.clone(),
            shown,
            state: tell.clone(),
        };
        let browser = CallbackBrowser(visit);
        let (client, url_of_server) = (self.client.clone(), self.url.clone());
        let sign_ins = Arc::clone(&self.sign_ins);
        let (name, needs) = (key.clone(), self.note_of(&key).needed);
        let task = tokio::spawn(async move {
            let _place = place;
            let outcome = async {
                let oauth = client.clone().browser(browser);
                if let Some(store) = tokens.open(&client).await? {
                    return sign_in_anew(&oauth.store(store), &url_of_server, needs).await;
                }
                // There are tokens that cannot be read now. They are kept until the user has signed in.
                let signed_in = MemoryStore::new();
                let oauth = oauth.store(signed_in.clone());
                sign_in_anew(&oauth, &url_of_server, needs).await?;
                tokens.replace(&signed_in).await
            };
            let outcome = outcome.await;
            if outcome.is_ok() {
                let mut sign_ins = sign_ins.lock();
                let note = sign_ins.entry(name).or_default();
                note.needed = None;
                note.number += 1;
            }
            tell.send_replace(SignInState::Ended(outcome));
        });
        let channels = (url.clone(), state.clone());
        let task = task.abort_handle();
        begun.insert(key, BegunSignIn { url, state, task });
        Ok(channels)
    }
}

/// The URL for the user, and the progress of the sign-in.
type BegunChannels = (
    watch::Receiver<Option<String>>,
    watch::Receiver<SignInState>,
);

/// A note about the sign-ins of one caller.
#[derive(Clone, Debug, Default)]
struct SignInNote {
    /// How often the caller has signed in since the gateway started.
    number: u64,
    needed: Option<Needed>,
}

/// What a caller has to sign in again for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Needed {
    /// New tokens: the server rejects the old ones permanently.
    Tokens,
    /// More scopes: the tokens are valid, but the server requires these scopes too.
    Scopes(Scopes),
}

/// Signs in for new tokens or more scopes.
async fn sign_in_anew(tokens: &OAuth, server: &str, needed: Option<Needed>) -> Result<(), String> {
    let signing_in = async {
        match needed {
            Some(Needed::Scopes(scopes)) => tokens.sign_in_for(server, scopes.iter()).await,
            Some(Needed::Tokens) => {
                // The tokens are useless, whether the authorization server revokes them or not.
                let _ = tokens.sign_out(server).await;
                tokens.sign_in(server).await
            }
            None => tokens.sign_in(server).await,
        }
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

/// Sends users to authorization servers with a link, and receives them at the gateway's own address.
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
    fn prepare<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        let visit = self.0.clone();
        Box::pin(async move { Ok(Box::new(visit) as Box<dyn BrowserVisit>) })
    }
}

impl BrowserVisit for CallbackVisit {
    fn redirect_uri(&self) -> &str {
        &self.redirect
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move {
            let query = request.url().split_once('?').map_or("", |(_, query)| query);
            let state =
                parameter(query, "state").ok_or("the authorization request has no `state`")?;
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
            told.await.map_err(|_| "the sign-in was abandoned".into())
        })
    }
}

/// A browser that never opens, because users do not sign in during a call; it records what a sign-in is needed for.
struct NoBrowser {
    store: String,
    /// The number of the sign-in that gave the tokens.
    number: u64,
    sign_ins: Arc<Mutex<HashMap<String, SignInNote>>>,
}

impl NoBrowser {
    fn note(&self, needs: impl FnOnce(Option<Needed>) -> Needed) {
        let mut sign_ins = self.sign_ins.lock();
        if sign_ins.len() >= MAX_NOTES && !sign_ins.contains_key(&self.store) {
            return;
        }
        let note = sign_ins.entry(self.store.clone()).or_default();
        // Problems with older tokens do not concern the current ones.
        if note.number == self.number {
            note.needed = Some(needs(note.needed.take()));
        }
    }
}

impl Browser for NoBrowser {
    fn prepare<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        self.note(|_| Needed::Tokens);
        Box::pin(async { Err("the caller has to sign in again".into()) })
    }

    fn allows_step_up(&self, scopes: &Scopes) -> bool {
        self.note(|before| match before {
            Some(Needed::Scopes(before)) => {
                Needed::Scopes(before.iter().chain(scopes.iter()).collect())
            }
            Some(Needed::Tokens) => Needed::Tokens,
            None => Needed::Scopes(scopes.clone()),
        });
        false
    }
}
