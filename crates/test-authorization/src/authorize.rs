//! The authorization endpoint: every user is signed in and consents immediately.

use super::{
    fault::Fault,
    form::Form,
    reply::{self, Problem, Reply},
    state::{Grant, Site, now, random},
};

/// The lifetime of a code in seconds.
const CODE_LIFETIME: u64 = 60;

/// Redirects the user's browser with a code or an error.
pub(super) async fn serve(site: &Site, query: &[u8]) -> Result<Reply, Problem> {
    let form = Form::parse(query)?;
    // The browser is not redirected until both are known to be valid (RFC 6749, 4.1.2.1).
    let client = site.client(form.need("client_id")?).await?;
    let redirect = form.need("redirect_uri")?;
    if !client.may_return_to(redirect) {
        let message = format!("`{redirect}` is not registered for this client");
        return Err(Problem::new("invalid_request", message));
    }
    let answer = match grant(site, &form, &client.id, redirect) {
        Ok(code) => vec![("code", code)],
        Err(problem) => vec![
            ("error", problem.code.to_owned()),
            ("error_description", problem.description),
        ],
    };
    Ok(back(site, &form, redirect, answer))
}

fn grant(site: &Site, form: &Form, client: &str, redirect: &str) -> Result<String, Problem> {
    if form.need("response_type")? != "code" {
        let message = "`response_type` must be `code`";
        return Err(Problem::new("unsupported_response_type", message));
    }
    // OAuth 2.1, 4.1.1: all clients need PKCE, and S256 is the only method with protection.
    let challenge = form.need("code_challenge")?.to_owned();
    if form.get("code_challenge_method") != Some("S256") {
        let message = "`code_challenge_method` must be `S256`";
        return Err(Problem::new("invalid_request", message));
    }
    let resource = form.resource()?;
    let mut state = site.state();
    if state.orders.has(&Fault::Denied) {
        return Err(Problem::new("access_denied", "the user denied the request"));
    }
    let code = random();
    let grant = Grant {
        client: client.to_owned(),
        subject: site.settings.subject.clone(),
        scopes: form.scopes(),
        resource,
        redirect: redirect.to_owned(),
        challenge,
        key: form.get("dpop_jkt").map(str::to_owned),
        expires: now() + CODE_LIFETIME,
    };
    state.codes.put(code.clone(), grant);
    Ok(code)
}

fn back(
    site: &Site,
    form: &Form,
    redirect: &str,
    mut answer: Vec<(&'static str, String)>,
) -> Reply {
    let mut state = site.state();
    let orders = &mut state.orders;
    if let Some(given) = form.get("state") {
        let given = if orders.has(&Fault::WrongState) {
            format!("{given}x")
        } else {
            given.to_owned()
        };
        answer.push(("state", given));
    }
    let wrong = orders.take(|fault| match fault {
        Fault::WrongIss(other) => Some(other.clone()),
        _ => None,
    });
    if !orders.has(&Fault::MissingIss) {
        answer.push(("iss", wrong.unwrap_or_else(|| site.issuer.clone())));
    }
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(answer)
        .finish();
    let mark = if redirect.contains('?') { '&' } else { '?' };
    reply::redirect(&format!("{redirect}{mark}{query}"))
}
