//! One question, from asking to its answer.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{InputResponse, ProgressNotificationParams};
use turnbuckle_session::round::{Fingerprint, Impossible, QuestionDraft};

use super::{Asking, asking::QuestionStatus, visit::Course};
use crate::failure::AskFailed;

/// A question to the client. Await it to get the answer; join several to ask them at the same time.
///
/// Some clients do not support some questions: forms exist since 2025-06-18, URLs since 2025-11-25,
/// and a client may lack the capability. Set a fallback with [`or`](Self::or); without it the
/// caller gets an error that names the missing capability.
///
/// # Cancel safety
/// Dropping it withdraws the question.
#[must_use = "a question is asked when it is awaited"]
pub struct Question<'a, T> {
    asking: &'a Arc<Asking>,
    key: String,
    /// The question and the text that identifies it.
    posed: QuestionDraft,
    fingerprint: Fingerprint,
    read: fn(&str, InputResponse) -> Result<T, AskFailed>,
    otherwise: Otherwise<'a, T>,
    course: Course,
    stage: QuestionStage,
}

/// The fallback if the client cannot be asked.
enum Otherwise<'a, T> {
    Nothing,
    Value(T),
    Made(Box<dyn FnOnce(&Impossible) -> T + Send + 'a>),
}

enum QuestionStage {
    Unasked,
    /// The question is open, and its answer arrives in a later round.
    Open,
    /// The question was sent to the client, which has not answered yet.
    Sent(BoxFuture<'static, Result<(), AskFailed>>),
    Done,
}

/// No field is pinned.
impl<T> Unpin for Question<'_, T> {}

impl<'a, T> Question<'a, T> {
    pub(super) fn new(
        asking: &'a Arc<Asking>,
        key: &str,
        question: QuestionDraft,
        read: fn(&str, InputResponse) -> Result<T, AskFailed>,
    ) -> Self {
        Self {
            asking,
            key: key.to_owned(),
            fingerprint: question.fingerprint(),
            posed: question,
            read,
            otherwise: Otherwise::Nothing,
            course: Course::Waits,
            stage: QuestionStage::Unasked,
        }
    }

    pub(super) fn taking(mut self, course: Course) -> Self {
        self.course = course;
        self
    }

    /// Uses this value if the client cannot be asked.
    ///
    /// ```
    /// # use turnbuckle_server::{Ask, ToolError};
    /// async fn folders(Ask(ask): Ask) -> Result<String, ToolError> {
    ///     let roots = ask.roots("roots").or(Vec::new()).await?;
    ///     Ok(format!("{} folders", roots.len()))
    /// }
    /// ```
    pub fn or(self, value: T) -> Self {
        self.otherwise(Otherwise::Value(value))
    }

    /// Uses the value of this function if the client cannot be asked. The function gets the reason:
    /// the revision or the missing capability.
    pub fn or_else(self, make: impl FnOnce(&Impossible) -> T + Send + 'a) -> Self {
        self.otherwise(Otherwise::Made(Box::new(make)))
    }

    /// Calls `listener` with the client's progress notifications, which tell how far a model is
    /// with an answer, or a user with a form. Clients need not send any.
    ///
    /// Only clients of 2024-11-05 to 2025-11-25 send them; since 2026-07-28 a question is not a
    /// request, so it has no progress. The listener is called where messages are read, so it must
    /// not block.
    ///
    /// ```
    /// # use turnbuckle_protocol::CreateMessageRequestParams;
    /// # use turnbuckle_server::{Ask, ToolError};
    /// async fn write(Ask(ask): Ask) -> Result<String, ToolError> {
    ///     let request = CreateMessageRequestParams::new(vec![], 100);
    ///     let written = ask
    ///         .sample("text", request)
    ///         .progress(|report| println!("{} tokens", report.progress))
    ///         .await?;
    ///     Ok(written.model)
    /// }
    /// ```
    pub fn progress(
        self,
        listener: impl Fn(ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.asking.hear_progress(&self.key, Arc::new(listener));
        self
    }

    fn otherwise(mut self, otherwise: Otherwise<'a, T>) -> Self {
        self.otherwise = otherwise;
        self
    }

    fn impossible(&mut self, impossible: Impossible) -> Result<T, AskFailed> {
        match std::mem::replace(&mut self.otherwise, Otherwise::Nothing) {
            Otherwise::Nothing => Err(AskFailed::Impossible(impossible)),
            Otherwise::Value(value) => Ok(value),
            Otherwise::Made(make) => Ok(make(&impossible)),
        }
    }

    /// Asks the question and waits for the answer. If questions are answered by a retry, it stays
    /// pending, and the handler is dropped with the round.
    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Result<T, AskFailed>> {
        loop {
            if let QuestionStage::Sent(sent) = &mut self.stage {
                ready!(sent.as_mut().poll(context))?;
                self.asking.leave(&self.key);
                self.stage = QuestionStage::Unasked;
            }
            let is_new = matches!(self.stage, QuestionStage::Unasked);
            match self
                .asking
                .ask(&self.key, &self.posed, self.fingerprint, is_new)
            {
                QuestionStatus::Answered(response) => {
                    return Poll::Ready((self.read)(&self.key, response));
                }
                QuestionStatus::Impossible(impossible) => {
                    return Poll::Ready(self.impossible(impossible));
                }
                QuestionStatus::Wrong(failed) => return Poll::Ready(Err(failed)),
                QuestionStatus::Ended => return Poll::Pending,
                QuestionStatus::Open => {
                    self.stage = QuestionStage::Open;
                    return Poll::Pending;
                }
                QuestionStatus::Send(sent) => {
                    self.stage = QuestionStage::Sent(sent);
                    if self.course == Course::Ends && self.asking.end_for_visit(&self.key) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl<T> Future for Question<'_, T> {
    type Output = Result<T, AskFailed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(self.poll_answer(context));
        self.end();
        Poll::Ready(answer)
    }
}

impl<T> Question<'_, T> {
    /// Notes that this future no longer waits for the answer.
    fn end(&mut self) {
        match std::mem::replace(&mut self.stage, QuestionStage::Done) {
            QuestionStage::Open | QuestionStage::Sent(_) => self.asking.leave(&self.key),
            QuestionStage::Unasked | QuestionStage::Done => {}
        }
    }
}

impl<T> Drop for Question<'_, T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T> fmt::Debug for Question<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
