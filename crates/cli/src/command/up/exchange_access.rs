//! Callers whose tokens are exchanged for tokens of a server (RFC 8693).

use std::{collections::HashMap, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle::{
    Caller,
    auth::{
        SubjectToken,
        client::{OAuth, Registered},
    },
    client::HttpTarget,
    gateway::personal::{CallerAccess, SignIn},
    host::ServerSpec,
};
use turnbuckle_base::lock::Mutex;

/// A server whose tokens are obtained in exchange for those of callers.
pub(super) struct ExchangeAccess {
    pub(super) target: HttpTarget,
    pub(super) oauth: OAuth,
    pub(super) client: Registered,
    pub(super) audience: Option<String>,
    /// The newest token of each caller that has a session with the server.
    pub(super) newest: NewestTokens,
}

/// The newest tokens of callers, for as long as a session uses them.
#[derive(Default)]
pub(super) struct NewestTokens(Mutex<HashMap<TokenHolder, Arc<SubjectToken>>>);

/// A caller and the scopes of its token.
type TokenHolder = (Option<String>, Vec<String>);

fn owner(caller: &Caller) -> TokenHolder {
    let mut scopes = caller.scopes().to_vec();
    scopes.sort_unstable();
    (caller.id().map(str::to_owned), scopes)
}

impl CallerAccess for ExchangeAccess {
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async move {
            let token = Arc::new(caller.get::<SubjectToken>()?.deep_clone());
            {
                let mut newest = self.newest.0.lock();
                // Removes tokens that no session uses any more.
                newest.retain(|_, token| Arc::strong_count(token) > 1);
                newest.insert(owner(caller), Arc::clone(&token));
            }
            let (client, subject) = (self.client.clone(), SubjectToken::clone(&token));
            let oauth = self.oauth.clone();
            let oauth = oauth.exchange(client, subject, self.audience.clone());
            let target = self.target.clone();
            Some(ServerSpec::from_http(move || {
                // The closure keeps the token alive.
                let _kept = &token;
                target.clone().authorize(oauth.clone())
            }))
        })
    }

    fn can_look_up(&self, caller: &Caller) -> bool {
        // A caller whose request another replica passes on has no token.
        caller.get::<SubjectToken>().is_some()
    }

    fn note(&self, caller: &Caller) {
        let Some(newer) = caller.get::<SubjectToken>() else {
            return;
        };
        let known = self.newest.0.lock().get(&owner(caller)).cloned();
        if let Some(known) = known {
            known.renew(newer);
        }
    }

    fn has_sign_in(&self) -> bool {
        false
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async {
            Err("this server uses token exchange, so callers do not sign in".to_owned())
        })
    }
}
