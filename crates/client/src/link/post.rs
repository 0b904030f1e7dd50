//! A request over HTTP: its POST and its answer, in the future of the call.

use std::{future::poll_fn, pin::pin, task::Poll};

use super::{
    request::{Progress, Request, State},
    slot::{Landed, Outcome},
};
use crate::http::{Answered, Fault, Http, Post};

impl Request<'_> {
    /// Sends it and waits for what comes of it.
    pub(super) async fn post(
        &mut self,
        http: &Http,
        mut progress: Option<Progress<'_>>,
    ) -> Outcome {
        self.state = State::Sent;
        let post = Post {
            method: self.method,
            id: &self.id,
            modern: self.modern,
            message: std::mem::take(&mut self.message).into(),
            slot: &self.slot,
        };
        let mut exchange = pin!(http.exchange(self.link, &post));
        let mut is_over = false;
        let outcome = poll_fn(|context| {
            loop {
                match self.slot.poll_landed(context) {
                    Poll::Ready(Landed::Progress(report)) => {
                        if let Some(told) = &mut progress {
                            told(report);
                        }
                        continue;
                    }
                    Poll::Ready(Landed::Outcome(outcome)) => return Poll::Ready(outcome),
                    Poll::Pending if is_over => return Poll::Pending,
                    Poll::Pending => {}
                }
                match std::task::ready!(exchange.as_mut().poll(context)) {
                    Ok(Answered::Later) => is_over = true,
                    Ok(Answered::Landed) if self.slot.is_settled() => is_over = true,
                    Ok(Answered::Landed) => return Poll::Ready(unanswered()),
                    Ok(Answered::Error(error)) => return Poll::Ready(Outcome::Error(error)),
                    Err(fault) => return Poll::Ready(Outcome::Failed(fault)),
                }
            }
        })
        .await;
        // Whatever the outcome, nothing waits for an answer any more.
        if !matches!(outcome, Outcome::Overdue(_)) {
            self.link.pending.withdraw(&self.id.as_ref());
        }
        outcome
    }
}

fn unanswered() -> Outcome {
    let problem = "a message came that answers something else";
    Outcome::Failed(Fault::Malformed(problem.to_owned()))
}
