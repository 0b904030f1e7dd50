//! Asking, as a handler does it.

use std::{future::Future, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, InputRequest, InputResponse, RequestParams, Root,
};
use turnbuckle_session::round::{AskError, JournalError};

use super::{Answer, AskFailed, Asking, form};
use crate::{Call, Extract, Failure};

/// The extractor: `Ask(ask): Ask`.
#[derive(Clone)]
pub struct Ask(pub Asker);

/// Asks the client.
///
/// Each ask has a key, chosen by you and different for each question of one call: an answer is
/// known by it in the next round.
#[derive(Clone)]
pub struct Asker(Arc<Asking>);

impl Asker {
    /// Has the user fill in a form whose fields are those of `T`: text, numbers, booleans, and
    /// choices. The field's doc comment is its label.
    ///
    /// # Errors
    /// [`AskFailed`]; a user who declines is no error, but an [`Answer`].
    pub async fn form<T: DeserializeOwned + JsonSchema>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Answer<T>, AskFailed> {
        let schema = form::schema_of::<T>()?;
        let result = self
            .form_of(key, ElicitRequestFormParams::new(message, schema))
            .await?;
        match result.action {
            ElicitAction::Decline => Ok(Answer::Declined),
            ElicitAction::Cancel => Ok(Answer::Cancelled),
            ElicitAction::Accept => {
                let content = serde_json::to_value(result.content.unwrap_or_default());
                content
                    .and_then(serde_json::from_value)
                    .map(Answer::Accepted)
                    .map_err(|source| AskFailed::Unreadable {
                        key: key.to_owned(),
                        source,
                    })
            }
        }
    }

    /// Has the user fill in a form that was made at run time.
    ///
    /// # Errors
    /// [`AskFailed`].
    pub async fn form_of(
        &self,
        key: &str,
        form: ElicitRequestFormParams,
    ) -> Result<ElicitResult, AskFailed> {
        match self.0.ask(key, form.into()).await? {
            InputResponse::Elicit(result) => Ok(result),
            other => Err(unexpected(key, &other)),
        }
    }

    /// Has the user visit a URL, for what must not pass through the client: a login, a payment.
    /// Accepted means that the user agreed, not that they are done there.
    ///
    /// # Errors
    /// [`AskFailed`].
    pub async fn url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Answer<()>, AskFailed> {
        let mut visit = ElicitRequestUrlParams::new(message, url);
        // 2025-11-25 wants an id of its own for each visit; the other revisions have none.
        visit.elicitation_id = Some(key.to_owned());
        match self.0.ask(key, visit.into()).await? {
            InputResponse::Elicit(result) => Ok(match result.action {
                ElicitAction::Accept => Answer::Accepted(()),
                ElicitAction::Decline => Answer::Declined,
                ElicitAction::Cancel => Answer::Cancelled,
            }),
            other => Err(unexpected(key, &other)),
        }
    }

    /// Has the client's model complete messages.
    ///
    /// # Errors
    /// [`AskFailed`].
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, AskFailed> {
        match self.0.ask(key, request.into()).await? {
            InputResponse::CreateMessage(result) => Ok(*result),
            other => Err(unexpected(key, &other)),
        }
    }

    /// Asks for the user's roots: the folders and files that the client works with.
    ///
    /// # Errors
    /// [`AskFailed`].
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, AskFailed> {
        match self
            .0
            .ask(key, InputRequest::ListRoots(RequestParams::default()))
            .await?
        {
            InputResponse::ListRoots(result) => Ok(result.roots),
            other => Err(unexpected(key, &other)),
        }
    }

    /// Runs an effect once in a call, however often the handler is run again: a charge, an order,
    /// anything slow. Its value is kept between rounds, so it must be serialisable; its error is
    /// not, so that the next round tries again.
    ///
    /// # Errors
    /// Those of the effect, and [`AskFailed`] if the value cannot be kept.
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
            .round()
            .journal()
            .memo(key)
            .map(|raw| serde_json::from_str(raw.get()));
        if let Some(known) = known {
            return known.map_err(|source| unreadable(key, source).into());
        }
        let running = self.0.begin_memo();
        let value = effect.await;
        let kept = value.and_then(|value| self.keep(key, &value).map_err(Into::into));
        drop(running);
        kept
    }

    /// Keeps a value, and gives it as later rounds will see it.
    fn keep<T: Serialize + DeserializeOwned>(&self, key: &str, value: &T) -> Result<T, AskFailed> {
        let mut round = self.0.round();
        let kept = round
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

/// The round checks answers against their questions, so this says that it did not.
fn unexpected(key: &str, response: &InputResponse) -> AskFailed {
    let message = format!("it was answered with something else: {response:?}");
    AskFailed::Refused {
        key: key.to_owned(),
        code: -32603,
        message,
    }
}

impl Extract for Ask {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Asking::of(call).map(|asking| Self(Asker(asking)))
    }
}
