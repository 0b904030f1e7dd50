//! Assertions of a trusted issuer: a company's identity provider (ID-JAG), or the platform that
//! runs a workload (RFC 7523).

use serde_json::{Map, Value};
use turnbuckle_auth::jose::{Algorithm, Jws};

use super::asking::{Asking, Given};
use crate::{
    client_proof::is_for,
    reply::Problem,
    state::{Grant, Site, now},
};

/// The type of a grant for another authorization server.
pub(super) const ID_JAG: &str = "oauth-id-jag+jwt";

pub(in super::super) fn assertion(asking: Asking<'_>) -> Result<Given, Problem> {
    let assertion = asking.form.need("assertion")?;
    let (kind, claims) = verify(asking.site, assertion)?;
    let text = |name| claims.get(name).and_then(Value::as_str);
    let subject = text("sub").ok_or_else(|| bad("the assertion has no `sub`"))?;
    let mut grant = Grant {
        client: subject.to_owned(),
        subject: subject.to_owned(),
        scopes: asking.form.scopes(),
        resource: asking.form.resource()?,
        key: asking.key,
        ..Grant::default()
    };
    if kind == Some(ID_JAG.to_owned()) {
        let client = asking
            .client
            .ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?
            .proved()?;
        // enterprise-managed-authorization: the assertion must be for the client that presents it.
        if text("client_id") != Some(&client.id) {
            return Err(bad("the assertion is for another client"));
        }
        grant.client = client.id;
        narrow(&mut grant, &claims)?;
    }
    Ok(Given::Access(grant))
}

/// Grants only what both the assertion and the request contain.
fn narrow(grant: &mut Grant, claims: &Map<String, Value>) -> Result<(), Problem> {
    if let Some(resource) = claims.get("resource").and_then(Value::as_str) {
        if grant.resource.as_deref().is_some_and(|own| own != resource) {
            return Err(bad("the assertion is for another resource"));
        }
        grant.resource = Some(resource.to_owned());
    }
    if let Some(scope) = claims.get("scope").and_then(Value::as_str) {
        let allowed: Vec<_> = scope.split(' ').map(str::to_owned).collect();
        if grant.scopes.is_empty() {
            grant.scopes = allowed;
        } else {
            grant.scopes.retain(|scope| allowed.contains(scope));
        }
    }
    Ok(())
}

/// Verifies an assertion. Returns its type and its claims.
fn verify(site: &Site, assertion: &str) -> Result<(Option<String>, Map<String, Value>), Problem> {
    let token = Jws::parse(assertion).map_err(|error| bad(&error.to_string()))?;
    let kind = token.header().typ.clone();
    let issuer = token.unverified_claims().get("iss");
    let issuer = issuer.and_then(Value::as_str).unwrap_or_default();
    let trusted = site.settings.trusted.iter();
    let trusted = trusted.clone().find(|trusted| trusted.issuer == issuer);
    let trusted = trusted.ok_or_else(|| bad("assertions of its issuer are not accepted"))?;
    let claims = token.verify(&trusted.keys, &Algorithm::ALL);
    let claims = claims.map_err(|error| bad(&error.to_string()))?;
    let token_endpoint = site.url("/token");
    if !is_for(claims.get("aud"), &[&site.issuer, &token_endpoint]) {
        return Err(bad("the assertion is for another audience"));
    }
    if claims.get("exp").and_then(Value::as_u64) <= Some(now()) {
        return Err(bad("the assertion has expired"));
    }
    let id = claims.get("jti").and_then(Value::as_str);
    let id = id.ok_or_else(|| bad("the assertion has no `jti`"))?;
    if !site
        .state()
        .is_first_use(format!("{} {id}", trusted.issuer))
    {
        return Err(bad("the assertion was used before"));
    }
    Ok((kind, claims))
}

fn bad(message: &str) -> Problem {
    Problem::new("invalid_grant", message)
}
