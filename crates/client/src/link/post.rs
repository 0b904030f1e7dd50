//! A request over HTTP: its POST and its answer, in the future of the call.

use std::{future::poll_fn, pin::pin, task::Poll};

use super::{
    Link,
    initialize::initialize_again,
    request::{OnProgress, OpenRequest, SendState},
};
use crate::{
    http::{Answered, AttemptError, Fault, Http, MAX_RETRIES, Post, Reopenings, Session, jitter},
    pending::{RequestOutcome, SlotEvent},
};

impl OpenRequest<'_> {
    /// Sends the request and waits for its answer.
    pub(super) async fn post(
        &mut self,
        http: &Http,
        mut progress: Option<OnProgress<'_>>,
    ) -> Result<RequestOutcome, Fault> {
        self.state = SendState::Sent;
        let mut post = Post {
            method: self.method,
            name: self.name,
            id: &self.id,
            modern: self.modern,
            message: std::mem::take(&mut self.message).into(),
            slot: &self.slot,
            events: self.events,
        };
        let mut exchange = pin!(self.link.exchange(http, &mut post));
        let mut is_over = false;
        let outcome = poll_fn(|context| {
            loop {
                match self.slot.poll_landed(context) {
                    Poll::Ready(SlotEvent::Progress(report)) => {
                        if let Some(told) = &mut progress {
                            told(report);
                        }
                        continue;
                    }
                    Poll::Ready(SlotEvent::Outcome(outcome)) => return Poll::Ready(Ok(outcome)),
                    Poll::Pending if is_over => return Poll::Pending,
                    Poll::Pending => {}
                }
                match std::task::ready!(exchange.as_mut().poll(context)) {
                    Ok(Answered::Later) => is_over = true,
                    Ok(Answered::Landed) if self.slot.is_settled() => is_over = true,
                    Ok(Answered::Landed) => {
                        let problem = "the response answers a different request";
                        return Poll::Ready(Err(Fault::Malformed(problem.to_owned())));
                    }
                    Ok(Answered::Error(error)) => {
                        return Poll::Ready(Ok(RequestOutcome::Error(error)));
                    }
                    Err(fault) => return Poll::Ready(Err(fault)),
                }
            }
        })
        .await;
        // Whatever the outcome, the request does not wait for an answer any more.
        if !matches!(outcome, Ok(RequestOutcome::Overdue(_))) {
            self.link.pending.withdraw(&self.id.as_ref());
        }
        outcome
    }
}

impl Link {
    /// Sends a request and reads the response until it contains the answer.
    ///
    /// A request that can safely run twice is sent once more if its session has expired, or if there
    /// was no response at all: the server may have closed an idle connection just when it was used
    /// again. For a relayed request, the caller decides whether to send it again.
    async fn exchange(&self, http: &Http, post: &mut Post<'_>) -> Result<Answered, Fault> {
        let mut is_repeated = false;
        let mut retries = 0;
        loop {
            let session = http.sessions.current();
            let is_last =
                |post: &Post<'_>| is_repeated || !http.is_repeatable(post.method, &post.message);
            match http.attempt(post, &session).await {
                Ok(answered) if is_repeated || !may_be_asked_again(http, post, &answered) => {
                    return Ok(answered);
                }
                Ok(_) => {
                    let server = &**self.server();
                    tracing::debug!(
                        server,
                        "got the answer to another request, sending it once more"
                    );
                }
                Err(AttemptError::Fault(fault)) => {
                    // The server refused the request without reading it, so any request can be sent
                    // again.
                    let Some(wait) = fault.come_back_after().filter(|_| retries < MAX_RETRIES)
                    else {
                        return Err(fault);
                    };
                    retries += 1;
                    let server = &**self.server();
                    tracing::debug!(server, ?wait, "the server asks to come back later");
                    tokio::time::sleep(wait + jitter(wait / 4)).await;
                    continue;
                }
                Err(AttemptError::Unanswered(source)) if post.events.is_some() || is_last(post) => {
                    return Err(Fault::Lost(source));
                }
                Err(AttemptError::Unanswered(source)) => {
                    tracing::debug!(server = &**self.server(), %source, "sending it once more");
                }
                // A session that was opened just now cannot have expired.
                Err(AttemptError::SessionOver(fault)) if is_repeated => return Err(fault),
                Err(AttemptError::SessionOver(_)) => {
                    Box::pin(self.reopen_session(http, &session)).await?;
                    if is_last(post) {
                        let reason =
                            "a new session is open; repeat the call only if it may run twice";
                        return Err(Fault::SessionExpired(reason.to_owned()));
                    }
                }
            }
            is_repeated = true;
        }
    }

    /// Opens another session in place of an expired one. Concurrent callers that find the same session
    /// expired wait until that is done.
    ///
    /// # Cancel safety
    /// If the future is dropped, the next caller opens the session.
    pub(crate) async fn reopen_session(&self, http: &Http, over: &Session) -> Result<(), Fault> {
        let mut turn = http.sessions.reopening.lock().await;
        if http.sessions.current().number != over.number {
            return Ok(());
        }
        self.reopen_in_turn(http, &mut turn).await
    }

    async fn reopen_in_turn(&self, http: &Http, turn: &mut Reopenings) -> Result<(), Fault> {
        let server = &**self.server();
        let wait = turn.next_wait(self.pending.now());
        tracing::debug!(server, ?wait, "the session ended, opening a new one");
        // Opening another session may take long, and a user should not answer in vain meanwhile.
        http.withdraw_questions();
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        turn.note(self.pending.now());
        if let Err(error) = initialize_again(self).await {
            return Err(Fault::SessionExpired(format!(
                "a new session could not be opened ({error}); connect again"
            )));
        }
        http.end_handshake().await;
        turn.note(self.pending.now());
        self.session_reopened();
        Ok(())
    }

    /// Called when a session has expired while calls wait in it. The calls fail at once with this
    /// reason, and another session is opened.
    pub(crate) async fn session_lost(&self, http: &Http, over: &Session, reason: &'static str) {
        let mut turn = http.sessions.reopening.lock().await;
        if http.sessions.current().number != over.number {
            return;
        }
        // While this holds the lock, no handshake is among the waiting requests.
        self.pending.end_session(reason);
        if let Err(fault) = self.reopen_in_turn(http, &mut turn).await {
            let error = fault.into_error(self.server().clone(), "initialize");
            tracing::warn!(%error, "the session ended, and a new one could not be opened");
            self.desired.doubt();
        }
    }
}

/// Whether the answer to another request came in place of this one's, and the request can safely be
/// sent again. The connection was one answer behind, and has been closed. A handshake whose answer is
/// lost has opened nothing that is used.
fn may_be_asked_again(http: &Http, post: &Post<'_>, answered: &Answered) -> bool {
    matches!(answered, Answered::Landed)
        && !post.slot.is_settled()
        && post.events.is_none()
        && (post.method == "initialize" || http.is_repeatable(post.method, &post.message))
}
