//! `Asker`: the methods with which handlers ask questions.

use std::{future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitResult, InputRequest, InputResponse, RequestParams, Root,
};
use turnbuckle_session::round::{AskError, JournalError, QuestionDraft};

use super::{Answer, Asking, Form, FormValues, Question, Visit};
use crate::AskFailed;

/// Sends questions to the client in the middle of a call: elicitation, sampling and roots. Handlers
/// get it from the extractor [`Ask`](crate::Ask).
///
/// The handler awaits the answer. For clients of 2024-11-05 to 2025-11-25 the question is a request
/// to the client, and the handler waits for the response. For clients of 2026-07-28 the handler is
/// dropped and the client gets the question as the result of its request. When the client sends the
/// request again with the answer, the handler runs from the start, and questions that were answered
/// return their answers. So one rule applies to all revisions: **code before a question may run
/// again**. Put effects that must happen only once into [`memo`](Self::memo).
///
/// ```
/// use turnbuckle_server::{Answer, Ask, ToolError};
///
/// async fn delete(Ask(ask): Ask) -> Result<String, ToolError> {
///     match ask.form::<()>("sure", "Delete everything?").await? {
///         Answer::Accepted(()) => Ok("gone".into()),
///         Answer::Declined | Answer::Cancelled => Ok("kept".into()),
///     }
/// }
/// ```
///
/// Each question has a key that you choose. Keys must differ within one call: when the handler runs
/// again after an answer, the answer is found by its key.
///
/// # Errors
/// Awaiting a [`Question`] fails with [`AskFailed`]; `?` turns it into the right error for the
/// caller.
#[derive(Clone)]
pub struct Asker(pub(crate) Arc<Asking>);

impl Asker {
    /// Asks the user to fill in a form. `T` is a type with `#[derive(Form)]`, or `()` for a form
    /// without fields, to which the user can only agree. If the user declines, that is not an error
    /// but an [`Answer`].
    ///
    /// The key must differ from those of the call's other questions: when the handler runs again,
    /// the answer is found by its key.
    pub fn form<T: Form>(&self, key: &str, message: impl Into<String>) -> Question<'_, Answer<T>> {
        let form = QuestionDraft::Form {
            message: message.into(),
            schema: T::shared(),
        };
        Question::new(&self.0, key, form, |key, response| {
            let result = elicited(key, response)?;
            Ok(match result.action {
                ElicitAction::Decline => Answer::Declined,
                ElicitAction::Accept => {
                    let read = T::read(&mut FormValues::from(result));
                    Answer::Accepted(read.map_err(|source| AskFailed::FieldError {
                        key: key.to_owned(),
                        source,
                    })?)
                }
                _ => Answer::Cancelled,
            })
        })
    }

    /// Asks the user to fill in a form whose fields are chosen at run time. The result contains the
    /// user's decision and the values of the fields. Prefer [`form`](Self::form) if the fields are
    /// known.
    pub fn form_of(&self, key: &str, form: ElicitRequestFormParams) -> Question<'_, ElicitResult> {
        Question::new(&self.0, key, form.into(), elicited)
    }

    /// Asks the user to visit a URL, for data that must not pass through the client: a login, a
    /// payment. `Accepted` means that the user agreed to go there, not that the user has finished
    /// there.
    pub fn url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Question<'_, Answer<()>> {
        self.visit(key, Visit::new(message, url))
    }

    /// Asks the user to visit a URL, with more settings than [`url`](Self::url): with an id of your
    /// own, or so that the visit comes before the call.
    pub fn visit(&self, key: &str, visit: Visit) -> Question<'_, Answer<()>> {
        let course = visit.course;
        let visit = visit.into_params(key);
        Question::new(&self.0, key, visit.into(), |key, response| {
            Ok(match elicited(key, response)?.action {
                ElicitAction::Accept => Answer::Accepted(()),
                ElicitAction::Decline => Answer::Declined,
                _ => Answer::Cancelled,
            })
        })
        .taking(course)
    }

    /// Asks the client's model to complete messages (sampling). The client chooses the model, and
    /// its user may see, change or reject the request and the answer.
    pub fn sample(
        &self,
        key: &str,
        request: CreateMessageRequestParams,
    ) -> Question<'_, CreateMessageResult> {
        Question::new(
            &self.0,
            key,
            request.into(),
            |key, response| match response {
                InputResponse::CreateMessage(result) => Ok(*result),
                other => Err(unexpected(key, &other)),
            },
        )
    }

    /// Asks for the client's roots: the folders that it works with. The list may be empty. To learn
    /// of changes during a session, see
    /// [`Server::on_roots_changed`](crate::Server::on_roots_changed).
    pub fn roots(&self, key: &str) -> Question<'_, Vec<Root>> {
        let request = InputRequest::ListRoots(RequestParams::default());
        Question::new(
            &self.0,
            key,
            request.into(),
            |key, response| match response {
                InputResponse::ListRoots(result) => Ok(result.roots),
                other => Err(unexpected(key, &other)),
            },
        )
    }

    /// Runs an effect once per call, even if the handler runs again: a charge, an order, anything
    /// slow. Its value is stored and returned by later runs, so it must be serializable. An error
    /// is not stored: the next run tries again.
    ///
    /// In a task of a [restartable](crate::Tool::restartable) tool the value is stored for other
    /// replicas before this returns. If a process is killed after the effect and before its value
    /// is stored, the effect happens again. Use an idempotency key to make this harmless.
    ///
    /// # Errors
    /// The error of the effect, or [`AskFailed`] if the value cannot be stored.
    ///
    /// # Cancel safety
    /// Dropping the future drops the effect; unless the effect has ended, no value is stored. While
    /// the effect runs, the handler is not dropped because of a question, but it is if the call is
    /// cancelled.
    pub async fn memo<T, E>(
        &self,
        key: &str,
        effect: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskFailed>,
    {
        let known = self
            .0
            .state()
            .round
            .journal()
            .memo(key)
            .map(|raw| serde_json::from_str(raw.get()));
        if let Some(known) = known {
            return known.map_err(|source| unreadable(key, source).into());
        }
        let running = self.0.begin_memo();
        let value = effect.await;
        let kept = value.and_then(|value| self.keep(key, &value).map_err(Into::into));
        if kept.is_ok()
            && let Some(task) = self.0.task.get()
        {
            // If another replica continues the task, it must not run the effect again.
            task.stored().await;
        }
        drop(running);
        kept
    }

    /// Stores a value, and returns it in the form in which later rounds get it.
    fn keep<T: Serialize + DeserializeOwned>(&self, key: &str, value: &T) -> Result<T, AskFailed> {
        let mut state = self.0.state();
        let kept = state
            .round
            .journal_mut()
            .record_memo(key, value)
            .map_err(in_journal)?;
        serde_json::from_str(kept.get()).map_err(|source| unreadable(key, source))
    }
}

fn in_journal(error: JournalError) -> AskFailed {
    AskFailed::Wrong(AskError::from(error))
}

fn unreadable(key: &str, source: serde_json::Error) -> AskFailed {
    AskFailed::Unreadable {
        key: key.to_owned(),
        source,
    }
}

fn elicited(key: &str, response: InputResponse) -> Result<ElicitResult, AskFailed> {
    match response {
        InputResponse::Elicit(result) => Ok(result),
        other => Err(unexpected(key, &other)),
    }
}

/// The round checks answers against their questions, so this error means a mistake in that check.
fn unexpected(key: &str, response: &InputResponse) -> AskFailed {
    let message = format!("the answer does not fit the question: {response:?}");
    AskFailed::Refused {
        key: key.to_owned(),
        code: -32603,
        message,
    }
}
