//! The guard of the gateway: callers need API keys, or tokens of an authorization server.

use std::{net::SocketAddr, sync::Arc};

use http::Uri;
use serde::Deserialize;
use turnbuckle::{
    Protect,
    auth::server::{Guard, Issuer},
    store::UsedStates,
};
use turnbuckle_base::loopback::is_loopback;
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{file::GatewaySection, keys::CallerKeys, personal::PersonalPlan, plan::Plan};
use crate::replicas::Shared;

/// `[gateway.oauth]`: callers need tokens of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct OAuthEntry {
    issuer: String,
    /// The audience of tokens, if it is not the URL of the gateway.
    audience: Option<String>,
    /// The scopes that every token must have.
    #[serde(default)]
    scopes: Vec<String>,
}

impl OAuthEntry {
    /// The guard of a gateway at this URL. Replicas share the record of used proofs (DPoP).
    fn guard(
        &self,
        resource: &str,
        used_proofs: Option<Arc<dyn UsedStates>>,
    ) -> Outcome<Arc<dyn Protect>> {
        let issuer = Issuer::new(&*self.issuer);
        let issuer = match &self.audience {
            Some(audience) => issuer.audience(&**audience),
            None => issuer,
        };
        let guard = Guard::new(resource).issuer(issuer);
        let guard = guard.scopes(self.scopes.iter().map(String::as_str));
        // A reload may add the first server that exchanges tokens, and the guard does not change then.
        let guard = guard.keep_subject_tokens();
        let guard = match used_proofs {
            Some(store) => guard.used_proofs(store),
            None => guard,
        };
        let guard = guard.build().map_err(Failed::usage)?;
        Ok(Arc::new(guard))
    }
}

/// The URL of the gateway, which its paths are below. `None` if it is only known to clients.
pub(super) fn base(plan: &Plan, local: Option<SocketAddr>) -> Option<String> {
    match &plan.gateway.public_url {
        Some(url) => Some(url.trim_end_matches('/').to_owned()),
        None => local.map(|local| format!("http://{local}")),
    }
}

/// The URL of the endpoint, which tokens are issued for.
pub(super) fn resource(plan: &Plan, local: Option<SocketAddr>) -> String {
    format!("{}/mcp", base(plan, local).unwrap_or_default())
}

/// The guard that the file configures, for a gateway at this URL.
pub(super) fn open(
    plan: &Plan,
    keys: Option<&CallerKeys>,
    resource: &str,
    shared: Option<&Shared>,
) -> Outcome<Option<Arc<dyn Protect>>> {
    match (&plan.gateway.oauth, keys) {
        (Some(oauth), _) => {
            let used_proofs = shared.map(|shared| Arc::clone(&shared.stores.used_states));
            oauth.guard(resource, used_proofs).map(Some)
        }
        (None, Some(keys)) => Ok(Some(Arc::new(keys.clone()))),
        (None, None) => Ok(None),
    }
}

/// Rejects settings that contradict each other, whatever address the gateway listens at.
pub(super) fn check(plan: &Plan) -> Outcome {
    let GatewaySection { keys, oauth, .. } = &plan.gateway;
    if !keys.is_empty() && oauth.is_some() {
        let said = "`[gateway.oauth]` and `[[gateway.keys]]` cannot be used together";
        return Err(Failed::usage(said).hint("use one of them"));
    }
    check_exchange(plan, oauth.is_some())
}

fn check_exchange(plan: &Plan, has_oauth: bool) -> Outcome {
    match plan.personal_server(PersonalPlan::exchanges) {
        Some(server) if !has_oauth => Err(Failed::usage(format!(
            "server `{server}` uses `exchange`, which needs callers with OAuth tokens"
        ))
        .hint(
            "name their authorization server with `[gateway.oauth] issuer = \"…\"`, and restart",
        )),
        _ => Ok(()),
    }
}

/// The front of a running gateway. A reload does not change it, so each new plan is checked against it,
/// not against the front that the new plan describes.
#[derive(Clone)]
pub(super) struct LiveFront {
    /// Keys, OAuth and the public URL as they were when the gateway started.
    started: GatewaySection,
    /// Whether clients on other machines can reach the gateway.
    is_public: bool,
    /// Whether the gateway has an address that a browser can open.
    has_url: bool,
    has_replicas: bool,
}

impl LiveFront {
    /// A gateway on stdin and stdout: its one caller is the program that started it.
    pub(super) fn stdio(plan: &Plan) -> Self {
        Self {
            started: plan.gateway.clone(),
            is_public: false,
            has_url: true,
            has_replicas: false,
        }
    }

    /// A gateway that listens at this address (`None` for a Unix socket) and answers to these hosts.
    pub(super) fn listening<'a>(
        plan: &Plan,
        local: Option<SocketAddr>,
        mut allowed_hosts: impl Iterator<Item = &'a String>,
    ) -> Self {
        let ip = local.map(|local| local.ip().to_canonical());
        let public_url = plan.gateway.public_url.as_deref();
        // A loopback address behind a reverse proxy is as public as the proxy.
        let is_public = !ip.is_some_and(|ip| ip.is_loopback())
            || public_url.is_some_and(|url| !is_loopback_url(url))
            || allowed_hosts.any(|host| !is_loopback_url(&format!("http://{host}")));
        Self {
            started: plan.gateway.clone(),
            is_public,
            has_url: public_url.is_some() || ip.is_some_and(|ip| !ip.is_unspecified()),
            has_replicas: false,
        }
    }

    /// The same front as one of several replicas.
    pub(super) fn with_replicas(self) -> Self {
        Self {
            has_replicas: true,
            ..self
        }
    }

    /// Rejects a plan that this front could not serve, or not serve safely.
    pub(super) fn check(&self, plan: &Plan) -> Outcome {
        self.check_callers(plan)?;
        check_exchange(plan, self.started.oauth.is_some())?;
        self.check_url(plan)?;
        self.check_replicas(plan)
    }

    /// Whether clients on other machines can reach the gateway, at its address or through a proxy.
    pub(super) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether the guard of the running gateway distinguishes callers.
    pub(super) fn tells_callers_apart(&self) -> bool {
        self.started.tells_callers_apart()
    }

    /// The settings of a plan that differ from those of the front, and take effect after a restart.
    pub(super) fn differing(&self, plan: &Plan) -> Vec<&'static str> {
        let (old, new) = (&self.started, &plan.gateway);
        let settings = [
            ("listen", old.listen != new.listen),
            ("names", old.names != new.names),
            ("keys", old.keys != new.keys),
            ("oauth", old.oauth != new.oauth),
            ("public-url", old.public_url != new.public_url),
            ("allow-hosts", old.allow_hosts != new.allow_hosts),
            ("allow-origins", old.allow_origins != new.allow_origins),
            ("admin", old.admin != new.admin),
            ("lock-file", old.lock_file != new.lock_file),
            ("access-log", old.access_log != new.access_log),
            ("park-seconds", old.park_seconds != new.park_seconds),
            ("processes", old.processes != new.processes),
        ];
        let differing = settings.into_iter().filter(|(_, is_other)| *is_other);
        differing.map(|(name, _)| name).collect()
    }

    fn check_callers(&self, plan: &Plan) -> Outcome {
        match plan.personal_server(|_| true) {
            Some(server) if self.is_public && !self.started.tells_callers_apart() => {
                Err(Failed::usage(format!(
                    "callers use server `{server}` with credentials of their own, but the gateway \
                     cannot tell callers apart: everyone who can reach it would use the tokens of the first"
                ))
                .hint(
                    "start the gateway with `[[gateway.keys]]` or `[gateway.oauth]`, or listen on \
                     127.0.0.1 without `public-url` and `allow-hosts`",
                ))
            }
            _ => Ok(()),
        }
    }

    fn check_url(&self, plan: &Plan) -> Outcome {
        if self.has_url {
            return Ok(());
        }
        let hint = "set `public-url` in `[gateway]`, the URL that browsers and clients reach the \
                    gateway by, and restart";
        if let Some(server) = plan.personal_server(PersonalPlan::signs_in) {
            let said = format!(
                "callers sign in to server `{server}`, but the gateway listens at a wildcard address \
                 or a socket, to which a browser cannot return"
            );
            return Err(Failed::usage(said).hint(hint));
        }
        let oauth = self.started.oauth.as_ref();
        if oauth.is_some_and(|oauth| oauth.audience.is_none()) {
            let said = "`[gateway.oauth]` needs an `audience`, because the gateway listens at a wildcard \
                        address or a socket, for which no tokens can be issued";
            return Err(Failed::usage(said).hint(hint));
        }
        Ok(())
    }

    fn check_replicas(&self, plan: &Plan) -> Outcome {
        match plan.personal_server(PersonalPlan::signs_in) {
            Some(server) if self.has_replicas => Err(Failed::usage(format!(
                "server `{server}` uses `sign-in`, which does not work with replicas: a sign-in and its \
                 tokens are known to one replica alone"
            ))
            .hint("use `exchange`, or run one gateway without `--redis`")),
            _ => Ok(()),
        }
    }
}

/// Whether a URL leads to this machine. A URL that cannot be parsed may lead anywhere.
fn is_loopback_url(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host);
    host.is_some_and(is_loopback)
}
