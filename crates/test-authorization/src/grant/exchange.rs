//! Token exchange (RFC 8693): an access token of this server is exchanged for one for another
//! server, and an ID token for a grant at another authorization server (the identity provider's
//! part of enterprise-managed authorization).

use serde_json::{Value, json};
use turnbuckle_auth::jose::{Algorithm, Jws};

use super::asking::{Asking, Given};
use super::assertion::ID_JAG;
use crate::{
    form::Form,
    mint::sign,
    reply::Problem,
    state::{Grant, Site, now, random},
};

const ID_JAG_TYPE: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:id_token";
const ACCESS_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The lifetime of such a grant in seconds. It is used immediately.
const LIFETIME: u64 = 300;

pub(in super::super) fn exchange(asking: Asking<'_>) -> Result<Given, Problem> {
    let invalid = |message: &str| Problem::new("invalid_request", message);
    let client = asking
        .client
        .ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?
        .proved()?;
    let form = asking.form;
    if form.get("requested_token_type") == Some(ACCESS_TOKEN_TYPE) {
        let (site, resource) = (asking.site, form.resource()?);
        let resource = resource.or_else(|| form.get("audience").map(str::to_owned));
        return for_access(site, form, client.id, resource);
    }
    if form.need("requested_token_type")? != ID_JAG_TYPE {
        return Err(invalid("only an ID-JAG can be requested here"));
    }
    if form.need("subject_token_type")? != ID_TOKEN_TYPE {
        return Err(invalid("only an ID token can be exchanged here"));
    }
    let keys = asking.site.state().public_keys();
    let bad = |error: String| Problem::new("invalid_grant", error);
    let identity = Jws::parse(form.need("subject_token")?)
        .and_then(|token| token.verify(&keys, &Algorithm::ALL))
        .map_err(|error| bad(error.to_string()))?;
    let text = |name| identity.get(name).and_then(Value::as_str);
    if text("iss") != Some(&asking.site.issuer) || text("aud") != Some(&client.id) {
        return Err(bad(
            "the ID token has another issuer or another audience".into()
        ));
    }
    if identity.get("exp").and_then(Value::as_u64) <= Some(now()) {
        return Err(bad("the ID token has expired".into()));
    }
    let mut claims = json!({
        "iss": asking.site.issuer, "sub": text("sub"), "aud": form.need("audience")?,
        "client_id": client.id, "jti": random(), "iat": now(), "exp": now() + LIFETIME,
    });
    if let Some(resource) = form.resource()? {
        claims["resource"] = json!(resource);
    }
    let mut answer = json!({
        "issued_token_type": ID_JAG_TYPE, "token_type": "N_A", "expires_in": LIFETIME,
    });
    let scopes = form.scopes();
    if !scopes.is_empty() {
        claims["scope"] = json!(scopes.join(" "));
        answer["scope"] = claims["scope"].clone();
    }
    let key = asking.site.state().key();
    answer["access_token"] = json!(sign(&key, ID_JAG, &claims));
    Ok(Given::Other(answer))
}

/// An access token for another server, with the same user and the acting client.
fn for_access(
    site: &Site,
    form: &Form,
    client: String,
    resource: Option<String>,
) -> Result<Given, Problem> {
    let bad = |error: String| Problem::new("invalid_grant", error);
    if form.need("subject_token_type")? != ACCESS_TOKEN_TYPE {
        let message = "only an access token can be exchanged for another";
        return Err(Problem::new("invalid_request", message));
    }
    let keys = site.state().public_keys();
    let token = form.need("subject_token")?;
    if site.state().is_revoked(token) {
        return Err(bad("the token was revoked".into()));
    }
    let subject = Jws::parse(token)
        .and_then(|token| token.verify(&keys, &Algorithm::ALL))
        .map_err(|error| bad(error.to_string()))?;
    let text = |name| subject.get(name).and_then(Value::as_str);
    if text("iss") != Some(&site.issuer) {
        return Err(bad("the token was issued by another issuer".into()));
    }
    if subject.get("exp").and_then(Value::as_u64) <= Some(now()) {
        return Err(bad("the token has expired".into()));
    }
    let subject = text("sub").ok_or_else(|| bad("the token has no `sub`".into()))?;
    Ok(Given::Exchanged(Grant {
        subject: subject.to_owned(),
        client,
        scopes: form.scopes(),
        resource,
        ..Grant::default()
    }))
}
