//! The authorization code grant, with the proof (PKCE) that the same client requested the code.

use turnbuckle_auth::jose::digest;

use super::asking::{Asking, Given};
use crate::{
    reply::Problem,
    state::{now, random},
};

pub(in super::super) fn code(asking: Asking<'_>) -> Result<Given, Problem> {
    let bad = |message: &str| Problem::new("invalid_grant", message);
    let client = asking
        .client
        .ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?;
    let code = asking.form.need("code")?;
    // A code can be used once, even if the request fails.
    let grant = asking.site.state().codes.take(code);
    let mut grant = grant.ok_or_else(|| bad("the code is unknown, or was used before"))?;
    if now() >= grant.expires {
        return Err(bad("the code has expired"));
    }
    if grant.client != client.client.id {
        return Err(bad("the code was issued to another client"));
    }
    // OAuth 2.1 no longer requires it here; if it is present, it must be the same.
    let redirect = asking.form.get("redirect_uri");
    if redirect.is_some_and(|given| given != grant.redirect) {
        return Err(bad(
            "`redirect_uri` differs from that of the authorization request",
        ));
    }
    let verifier = asking.form.need("code_verifier")?;
    if digest(verifier) != grant.challenge {
        return Err(bad("`code_verifier` does not match the challenge"));
    }
    let resource = asking.form.resource()?;
    if resource.is_some() && resource != grant.resource {
        let message = "`resource` differs from the one that was granted";
        return Err(Problem::new("invalid_target", message));
    }
    if grant.key.is_some() && grant.key != asking.key {
        return Err(bad("the code is bound to another key"));
    }
    grant.key = asking.key;
    let family = random();
    Ok(Given::Both { grant, family })
}
