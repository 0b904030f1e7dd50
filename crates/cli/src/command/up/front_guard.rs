//! Who is let in: callers with keys, or callers with tokens of an authorization server.

use std::sync::Arc;

use serde::Deserialize;
use turnbuckle::{
    Protect,
    auth::server::{Guard, Issuer},
};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{file::GatewaySection, keys::CallerKeys, personal::PersonalPlan, plan::Plan};

/// `[gateway.oauth]`: callers have tokens of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OAuthEntry {
    issuer: String,
    /// What tokens are issued for, where that is not the URL of the gateway.
    audience: Option<String>,
    /// The scopes that every token must have.
    #[serde(default)]
    scopes: Vec<String>,
}

impl OAuthEntry {
    /// The guard of a gateway at this URL.
    pub(super) fn guard(&self, resource: &str, plan: &Plan) -> Outcome<Arc<dyn Protect>> {
        let issuer = Issuer::new(&*self.issuer);
        let issuer = match &self.audience {
            Some(audience) => issuer.audience(&**audience),
            None => issuer,
        };
        let guard = Guard::new(resource).issuer(issuer);
        let guard = guard.scopes(self.scopes.iter().map(String::as_str));
        let mut personal = plan.servers.iter().filter_map(|it| it.personal.as_ref());
        let guard = if personal.any(PersonalPlan::exchanges) {
            guard.keep_subject_tokens()
        } else {
            guard
        };
        let guard = guard.build().map_err(Failed::usage)?;
        Ok(Arc::new(guard))
    }
}

/// The guard that the file asks for, of a gateway at this URL.
pub(super) fn open(
    plan: &Plan,
    keys: Option<&CallerKeys>,
    resource: &str,
) -> Outcome<Option<Arc<dyn Protect>>> {
    match (&plan.gateway.oauth, keys) {
        (Some(oauth), _) => oauth.guard(resource, plan).map(Some),
        (None, Some(keys)) => Ok(Some(Arc::new(keys.clone()))),
        (None, None) => Ok(None),
    }
}

/// Says what of a plan does not go with the guard.
pub(super) fn check(plan: &Plan) -> Outcome {
    let GatewaySection { keys, oauth, .. } = &plan.gateway;
    if !keys.is_empty() && oauth.is_some() {
        let said = "`[gateway.oauth]` and `[[gateway.keys]]` do not go together";
        return Err(Failed::usage(said).hint("use one of them"));
    }
    let mut servers = plan.servers.iter();
    let exchanging = servers.find(|server| {
        let personal = server.personal.as_ref();
        personal.is_some_and(PersonalPlan::exchanges)
    });
    match exchanging {
        Some(server) if oauth.is_none() => Err(Failed::usage(format!(
            "server `{}` is reached with tokens that are exchanged for those of callers, so that \
             callers need tokens",
            server.id
        ))
        .hint("name their authorization server with `[gateway.oauth] issuer = \"…\"`")),
        _ => Ok(()),
    }
}

/// Says what of a plan may not be reached from other machines.
pub(super) fn check_public(plan: &Plan) -> Outcome {
    let mut servers = plan.servers.iter();
    let personal = servers.find(|server| server.personal.is_some());
    match personal {
        Some(server) if !plan.gateway.tells_callers_apart() => Err(Failed::usage(format!(
            "callers sign in to server `{}`, but the gateway cannot tell them apart: everyone who can \
             reach it would use the tokens of the first",
            server.id
        ))
        .hint("set keys for callers with `[[gateway.keys]]`, or listen on 127.0.0.1")),
        _ => Ok(()),
    }
}
