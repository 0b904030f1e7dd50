//! Servers that callers reach with their own credentials.

use std::sync::Arc;

use turnbuckle::{client::HttpTarget, gateway::personal::CallerAccess};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    target::{Options, Server},
};
use turnbuckle_host::config::Launch;

use super::{
    credentials::{CallerCredentials, Credentials},
    exchange_access::{ExchangeAccess, NewestTokens},
    pending_sign_ins::PendingSignIns,
    sign_in_access::SignInAccess,
};

/// How callers reach a server with their own credentials.
pub(super) struct PersonalPlan {
    url: String,
    target: HttpTarget,
    credentials: CallerCredentials,
}

impl PersonalPlan {
    /// Reads the settings in a file; `None` if all callers share the server.
    pub(super) fn read(
        launch: &Launch,
        credentials: Option<&Credentials>,
    ) -> Outcome<Option<Self>> {
        let Some(credentials) = credentials else {
            return Ok(None);
        };
        let Some(credentials) = credentials.of_callers()? else {
            return Ok(None);
        };
        let target = Server::at(launch.clone()).http_target(&Options::default())?;
        match (launch, target) {
            (Launch::Remote(remote), Some(target)) => Ok(Some(Self {
                url: remote.url.clone(),
                target,
                credentials,
            })),
            _ => Err(Failed::usage(
                "`sign-in` and `exchange` need a server with a `url`, not a command",
            )),
        }
    }

    /// Provides the credentials of each caller for this server.
    pub(super) fn access(&self, server: &str, pending: &PendingSignIns) -> Arc<dyn CallerAccess> {
        let target = self.target.clone();
        match self.credentials.clone() {
            CallerCredentials::SignIn(oauth) => Arc::new(SignInAccess::new(
                server,
                &self.url,
                target,
                oauth,
                pending.clone(),
            )),
            CallerCredentials::Exchange {
                oauth,
                client,
                audience,
            } => Arc::new(ExchangeAccess {
                target,
                oauth,
                client,
                audience,
                newest: NewestTokens::default(),
            }),
        }
    }

    /// Whether callers sign in.
    pub(super) fn signs_in(&self) -> bool {
        matches!(self.credentials, CallerCredentials::SignIn(_))
    }

    /// Whether tokens of callers are exchanged.
    pub(super) fn exchanges(&self) -> bool {
        matches!(self.credentials, CallerCredentials::Exchange { .. })
    }
}
