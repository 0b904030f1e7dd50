//! The token endpoint: exchanges grants for tokens.

use http::{HeaderMap, header};
use serde_json::{Value, json};

use super::{
    fault::Fault,
    form::Form,
    grant::{self, Asking, Given},
    metadata::{JWT_BEARER, TOKEN_EXCHANGE},
    mint::sign,
    reply::{self, Problem, Reply},
    state::{Grant, Refresh, Site, now, random},
};

pub(super) async fn serve(site: &Site, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let kind = headers.get(header::CONTENT_TYPE);
    let is_form = kind.is_some_and(|kind| {
        kind.as_bytes()
            .starts_with(b"application/x-www-form-urlencoded")
    });
    if !is_form {
        return Err(Problem::new("invalid_request", "the body is not a form"));
    }
    let form = Form::parse(body)?;
    let key = site.proved_key(headers)?;
    let client = site.known_client(headers, &form).await?;
    let asking = Asking {
        site,
        form: &form,
        client,
        key,
    };
    let given = match form.need("grant_type")? {
        "authorization_code" => grant::code(asking)?,
        "refresh_token" => grant::refresh(asking)?,
        "client_credentials" => grant::client_credentials(asking)?,
        JWT_BEARER => grant::assertion(asking)?,
        TOKEN_EXCHANGE => grant::exchange(asking)?,
        other => {
            let message = format!("`{other}` is not a supported grant type");
            return Err(Problem::new("unsupported_grant_type", message));
        }
    };
    Ok(reply::json(&answer(site, given)))
}

fn answer(site: &Site, given: Given) -> Value {
    let is_exchanged = matches!(given, Given::Exchanged(_));
    let (grant, family) = match given {
        Given::Other(answer) => return answer,
        Given::Access(grant) | Given::Exchanged(grant) => (grant, None),
        Given::Both { grant, family } => (grant, Some(family)),
    };
    let mut answer = json!({
        "access_token": site.access_token(&grant),
        "token_type": if grant.key.is_some() { "DPoP" } else { "Bearer" },
        "expires_in": site.settings.lifetime.as_secs(),
        "scope": grant.scopes.join(" "),
    });
    if is_exchanged {
        answer["issued_token_type"] = json!("urn:ietf:params:oauth:token-type:access_token");
    }
    if grant.scopes.iter().any(|scope| scope == "openid") {
        answer["id_token"] = json!(id_token(site, &grant));
    }
    if let Some(family) = family
        && is_refreshable(site, &grant)
    {
        let token = random();
        let refresh = Refresh {
            grant,
            family,
            is_used: false,
        };
        site.state().refresh.put(token.clone(), refresh);
        answer["refresh_token"] = json!(token);
    }
    answer
}

/// Whether to issue a refresh token. A server that lists `offline_access` issues one only if it is
/// requested.
fn is_refreshable(site: &Site, grant: &Grant) -> bool {
    let is_listed = site
        .settings
        .scopes
        .iter()
        .any(|one| one == "offline_access");
    let is_asked = grant.scopes.iter().any(|one| one == "offline_access");
    (!is_listed || is_asked) && !site.state().orders.has(&Fault::NoRefreshTokens)
}

fn id_token(site: &Site, grant: &Grant) -> String {
    let claims = json!({
        "iss": site.issuer, "sub": grant.subject, "aud": grant.client,
        "iat": now(), "exp": now() + site.settings.lifetime.as_secs(),
    });
    let key = site.state().key();
    sign(&key, "JWT", &claims)
}
