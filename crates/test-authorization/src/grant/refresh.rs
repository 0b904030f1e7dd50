//! The refresh token grant, with rotation: using an old token revokes all tokens that were derived
//! from it.

use super::asking::{Asking, Given};
use crate::{fault::Fault, reply::Problem};

pub(in super::super) fn refresh(asking: Asking<'_>) -> Result<Given, Problem> {
    let bad = |message: &str| Problem::new("invalid_grant", message);
    let client = asking
        .client
        .ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?;
    let token = asking.form.need("refresh_token")?;
    let mut state = asking.site.state();
    if state.orders.has(&Fault::RefuseRefresh) {
        return Err(bad("the refresh token was revoked"));
    }
    let known = state.refresh.get_mut(token);
    let known = known.ok_or_else(|| bad("the refresh token is unknown"))?;
    if known.grant.client != client.client.id {
        return Err(bad("the refresh token was issued to another client"));
    }
    let (mut grant, family) = (known.grant.clone(), known.family.clone());
    if known.is_used {
        // OAuth 2.1, 4.3.1: the token was stolen, and it is unknown who the thief is.
        state.refresh.retain(|other| other.family != family);
        return Err(bad("the refresh token was used before"));
    }
    if grant.key.is_some() && grant.key != asking.key {
        return Err(bad("the refresh token is bound to another key"));
    }
    known.is_used = true;
    drop(state);
    let wanted = asking.form.scopes();
    if wanted.iter().any(|scope| !grant.scopes.contains(scope)) {
        let message = "the request has more scopes than were granted";
        return Err(Problem::new("invalid_scope", message));
    }
    if !wanted.is_empty() {
        grant.scopes = wanted;
    }
    let resource = asking.form.resource()?;
    if resource.is_some() && resource != grant.resource {
        let message = "`resource` differs from the one that was granted";
        return Err(Problem::new("invalid_target", message));
    }
    Ok(Given::Both { grant, family })
}
