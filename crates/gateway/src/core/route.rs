//! Finds the server that a request is sent to.

use std::sync::Arc;

use turnbuckle_host::{ServerId, ServerState};
use turnbuckle_protocol::envelope::Raw;
use turnbuckle_server::Reject;

use super::Core;
use crate::{
    exchange::Route, lock::LockKind, operation::unknown, routes::Kind, settings::Naming,
    translate::text_of, upstream::Member,
};

impl Core {
    /// The only server, if its entries are offered under their own names.
    pub(super) fn only(&self) -> Option<Arc<Member>> {
        let members = self.members.read();
        match &**members {
            [one] if self.naming != Naming::Prefixed && one.offers_all() => Some(Arc::clone(one)),
            _ => None,
        }
    }

    pub(crate) fn member(&self, id: &ServerId) -> Option<Arc<Member>> {
        let members = self.members.read();
        members.iter().find(|member| member.id == *id).cloned()
    }

    /// The server of a URI. If there is a single server, it gets all URIs.
    pub(super) fn owner_of(&self, uri: &str) -> Option<Arc<Member>> {
        {
            let members = self.members.read();
            if let [one] = &**members {
                return Some(Arc::clone(one));
            }
        }
        self.member(&self.listed_owner_of(uri)?)
    }

    /// The server of a URI, according to the lists of the servers.
    pub(super) fn listed_owner_of(&self, uri: &str) -> Option<ServerId> {
        let routes = self.routes();
        let owner = routes.owner(uri);
        owner.or_else(|| Some(routes.find(Kind::Templates, uri)?.server.clone()))
    }

    /// The server of a tool or prompt, and the server's own name for it.
    pub(crate) fn owner(&self, name: &str) -> Option<(ServerId, String)> {
        if let Some(member) = self.only() {
            return Some((member.id.clone(), name.to_owned()));
        }
        let routes = self.routes();
        let entry = routes.find(Kind::Tools, name);
        let entry = entry.or_else(|| routes.find(Kind::Prompts, name))?;
        Some((entry.server.clone(), entry.own.to_string()))
    }

    /// The route of a request: its server, and the entry's name there. The caller has refused requests
    /// whose entry servers could read differently, see [`check_readable`](crate::operation::check_readable).
    pub(super) fn route(&self, method: &str, params: Raw<'_>) -> Result<Route, Reject> {
        let text = |path: &[&str]| params.at(path).and_then(text_of);
        if let Some(member) = self.only().filter(|_| !self.is_pinned(method, params)) {
            return Ok(Route::to(member));
        }
        let wanted = |path: &'static [&'static str]| {
            text(path).ok_or_else(|| {
                Reject::invalid_params(format!("`params.{}` must be a string", path.join(".")))
            })
        };
        let by_name = |kind, path: &'static [&'static str]| {
            let name = wanted(path)?;
            let word = match kind {
                Kind::Prompts => "prompt",
                _ => "tool",
            };
            let unknown = || unknown(word, &name);
            let routes = self.routes();
            if let Some((kind, server, own)) = routes.withheld(kind, &name) {
                return Err(withheld(kind, server.as_str(), own));
            }
            let entry = routes.find(kind, &name).ok_or_else(unknown)?;
            let member = self.member(&entry.server).ok_or_else(unknown)?;
            let own = entry.own.to_string();
            Ok(Route {
                member,
                name: (own != name).then_some((path, own)),
                fixed: entry.fixed.clone(),
            })
        };
        let by_uri = |path: &'static [&'static str]| {
            let uri = wanted(path)?;
            let member = self.owner_of(&uri);
            let member = member.ok_or_else(|| Reject::resource_not_found(&uri))?;
            Ok(Route::to(member))
        };
        match method {
            "tools/call" => by_name(Kind::Tools, &["name"]),
            "prompts/get" => by_name(Kind::Prompts, &["name"]),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => by_uri(&["uri"]),
            "completion/complete" if text(&["ref", "type"]).as_deref() == Some("ref/prompt") => {
                by_name(Kind::Prompts, &["ref", "name"])
            }
            "completion/complete" => by_uri(&["ref", "uri"]),
            _ => self
                .extended()
                .map(Route::to)
                .ok_or_else(|| Reject::method_not_found(method)),
        }
    }

    /// Whether a request is for an entry that has to be compared with the lock. With an enforced lock, only such tools
    /// and prompts may be called. A server may have others that it does not list, or may not have been compared yet.
    pub(super) fn is_pinned(&self, method: &str, params: Raw<'_>) -> bool {
        self.enforces_lock() && has_pin(method, params)
    }

    /// The only server that has extensions. It gets the methods that the protocol does not define.
    fn extended(&self) -> Option<Arc<Member>> {
        let members = self.members.read();
        let mut extended = members.iter().filter(|member| {
            let state = member.upstream.state();
            let ServerState::Ready(ready) = state else {
                return false;
            };
            let can = ready.capabilities.as_ref();
            can.is_some_and(|can| can.extensions.as_ref().is_some_and(|all| !all.is_empty()))
        });
        let first = extended.next()?;
        extended.next().is_none().then(|| Arc::clone(first))
    }
}

/// Whether a request names a tool or a prompt, which a lock pins.
fn has_pin(method: &str, params: Raw<'_>) -> bool {
    match method {
        "tools/call" | "prompts/get" => true,
        "completion/complete" => params.at(&["ref", "name"]).is_some(),
        _ => false,
    }
}

/// The error for an entry that the lock withholds, with the action that releases it.
fn withheld(kind: LockKind, server: &str, name: &str) -> Reject {
    let kind = kind.as_str();
    Reject::invalid_params(format!(
        "{kind} `{name}` of server `{server}` differs from the approved one and is withheld; the operator of \
         the gateway can review it with `turnbuckle lock --check` and approve it with \
         `turnbuckle lock approve {server}/{name}`"
    ))
}
