//! Adds tokens to requests, and gets new ones when they are refused.

use std::future::ready;

use http::header::AUTHORIZATION;
use turnbuckle_transport::http::client::{
    Authorize, BoxError, BoxFuture, Challenge, Decision, RequestHead, ResponseHead, StatusCode,
};

use super::challenge::Wanted;
use super::clock::Timestamp;
use super::dpop::{HEADER as PROOF, NONCE};
use super::obtain::Cause;
use super::session::{Current, Session};
use super::settings::Grant;
use super::tokens::TokenState;
use super::{AuthError, OAuth, Problem, Step};

impl Authorize for OAuth {
    fn authorize<'a>(
        &'a self,
        mut request: RequestHead<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let session = match self.session(request.address) {
            Ok(session) => session,
            Err(error) => return Box::pin(ready(Err(error.into()))),
        };
        if let Some(current) = session.usable() {
            return Box::pin(ready(put(session, &current, &mut request)));
        }
        Box::pin(async move {
            match session.ready().await {
                Some(current) => put(session, &current, &mut request),
                // Send the request without a token: the server may not need one, or its refusal
                // says what it requires.
                None => Ok(()),
            }
        })
    }

    fn answered(&self, answer: ResponseHead<'_>) {
        let Ok(session) = self.session(answer.address) else {
            return;
        };
        session.engine.nonces.note(answer.address, answer.headers);
        if answer.status.is_success() {
            session.succeeded();
        }
    }

    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            let session = self.session(refusal.address)?;
            let headers = refusal.www_authenticate();
            let wanted = Wanted::parse(headers.iter().filter_map(|header| header.to_str().ok()));
            let decision = match refusal.status {
                StatusCode::UNAUTHORIZED => unauthorized(session, &refusal, wanted).await?,
                _ => forbidden(session, &refusal, wanted).await?,
            };
            Ok(decision)
        })
    }
}

fn put(
    session: &Session,
    current: &Current,
    request: &mut RequestHead<'_>,
) -> Result<(), BoxError> {
    // A1: the token is sent in the header, with every request. Plain `http` is allowed only to this
    // machine.
    let engine = &session.engine;
    engine.settings.reach.check(Step::Use, request.address)?;
    request
        .headers
        .insert(AUTHORIZATION, current.header.clone());
    if let Some(key) = &current.tokens.key {
        let (method, address) = (request.method, request.address);
        let token = Some(&current.tokens.access);
        let proof = engine
            .nonces
            .prove(key, method, address, token, Timestamp::now())?;
        request.headers.insert(PROOF, proof);
    }
    Ok(())
}

/// 401: the token is missing or invalid.
async fn unauthorized(
    session: &Session,
    refusal: &Challenge<'_>,
    wanted: Wanted,
) -> Result<Decision, AuthError> {
    let has_proof = refusal.sent.contains_key(PROOF);
    let is_nonce = wanted.error.as_deref() == Some("use_dpop_nonce");
    if has_proof && is_nonce && refusal.headers.contains_key(NONCE) {
        // RFC 9449, 9: retry with the nonce, which was stored when the response arrived.
        return Ok(Decision::Retry);
    }
    let seen = session.current();
    let mut cause = Cause::Refused;
    if let Some(current) = seen.as_ref().filter(|current| current.is_usable_now()) {
        if !current.were_sent(refusal.sent) {
            // Another request has got new tokens meanwhile.
            return Ok(Decision::Retry);
        }
        match current.state {
            TokenState::Tried => {}
            TokenState::Renewed => cause = Cause::RenewedInVain,
            TokenState::New => {
                session.drop_tokens().await;
                return Err(still_refused(refusal));
            }
        }
    }
    session.get(cause, wanted, seen.as_ref()).await?;
    Ok(Decision::Retry)
}

fn still_refused(refusal: &Challenge<'_>) -> AuthError {
    AuthError::new(Step::Use, Problem::StillRefused)
        .at(refusal.address)
        .hint("the server does not accept tokens of its own authorization server; ask its operator")
}

/// 403: the token does not have the required scopes.
async fn forbidden(
    session: &Session,
    refusal: &Challenge<'_>,
    wanted: Wanted,
) -> Result<Decision, AuthError> {
    if wanted.error.as_deref() != Some("insufficient_scope") {
        return Ok(Decision::GiveUp);
    }
    let seen = session.current();
    let Some(current) = seen.as_ref().filter(|current| current.is_usable_now()) else {
        session.get(Cause::Refused, wanted, seen.as_ref()).await?;
        return Ok(Decision::Retry);
    };
    if !current.were_sent(refusal.sent) {
        return Ok(Decision::Retry);
    }
    // The server recognised the token, so the token itself is valid.
    session.succeeded();
    let scopes = wanted.scope.clone().unwrap_or_default();
    let needs_more = |error| {
        let problem = Problem::Refused {
            status: refusal.status.as_u16(),
            error,
            description: Some(format!("requires `{scopes}`")),
        };
        AuthError::new(Step::Use, problem).at(refusal.address)
    };
    if current.tokens.requested.contains_all(&scopes) {
        // A13: requesting the same scopes again would never end.
        return Err(needs_more(wanted.error)
            .rule("authorization, \"Step-Up Authorization Flow\"")
            .hint("these scopes were requested already; the authorization server or its user has to grant them"));
    }
    let settings = &session.engine.settings;
    if matches!(settings.grant, Grant::Code) && !settings.browser.allows_step_up(&scopes) {
        return Err(needs_more(wanted.error).hint("the user has to sign in again for these scopes"));
    }
    session.get(Cause::TooNarrow, wanted, Some(current)).await?;
    Ok(Decision::Retry)
}
