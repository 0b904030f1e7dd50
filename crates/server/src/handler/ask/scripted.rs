//! Scripted answers, for tests of handlers that ask.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_protocol::{ClientCapabilities, CreateMessageResult, Revision, Root};
use turnbuckle_session::round::Round;

use super::{
    Asker, Asking,
    asking::{AskState, Way},
};

/// Scripted answers to a handler's questions, by key, for tests that call a handler as a function.
///
/// Give them to [`Ask::scripted`](crate::Ask::scripted). They are checked like the answers of a
/// client. A question without an answer fails with an error that names its key.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_server::{Answer, Ask, ScriptedAnswers, ToolError};
///
/// async fn delete(Ask(ask): Ask) -> Result<&'static str, ToolError> {
///     match ask.form::<()>("sure", "Delete everything?").await? {
///         Answer::Accepted(()) => Ok("deleted"),
///         _ => Ok("kept"),
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let yes = ScriptedAnswers::new().accept("sure", json!({}));
/// assert_eq!(delete(Ask::scripted(yes)).await.unwrap(), "deleted");
/// let no = ScriptedAnswers::new().decline("sure");
/// assert_eq!(delete(Ask::scripted(no)).await.unwrap(), "kept");
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedAnswers {
    answers: Vec<(String, Value)>,
    capabilities: ClientCapabilities,
}

impl Default for ScriptedAnswers {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedAnswers {
    /// Creates a client that can be asked everything. Add answers with the methods below.
    pub fn new() -> Self {
        let everything = json!({
            "elicitation": { "form": {}, "url": {} },
            "sampling": { "context": {}, "tools": {} },
            "roots": {}
        });
        Self {
            answers: Vec::new(),
            capabilities: serde_json::from_value(everything).unwrap_or_default(),
        }
    }

    /// Creates a client that cannot be asked anything, to test a handler's fallbacks: each question
    /// fails with [`AskFailed::Impossible`](crate::AskFailed::Impossible).
    pub fn cannot_be_asked() -> Self {
        Self::of(ClientCapabilities::new())
    }

    /// Creates a client with these capabilities, to test what a handler does if some questions are
    /// impossible.
    pub fn of(capabilities: ClientCapabilities) -> Self {
        Self {
            answers: Vec::new(),
            capabilities,
        }
    }

    /// Adds an answer: the user fills in the form with these values, or agrees to visit the URL
    /// (with `json!({})`).
    pub fn accept(self, key: &str, content: impl Into<Value>) -> Self {
        self.answer(
            key,
            &json!({ "action": "accept", "content": content.into() }),
        )
    }

    /// Adds an answer: the user declines the question with this key.
    pub fn decline(self, key: &str) -> Self {
        self.answer(key, &json!({ "action": "decline" }))
    }

    /// Adds an answer: the user closes the question with this key.
    pub fn cancel(self, key: &str) -> Self {
        self.answer(key, &json!({ "action": "cancel" }))
    }

    /// Adds an answer: the client's model returns this result for the sampling request with this
    /// key.
    pub fn sample(self, key: &str, result: &CreateMessageResult) -> Self {
        self.answer(key, result)
    }

    /// Adds an answer: the client returns these roots.
    pub fn roots(self, key: &str, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Vec<Root> = roots.into_iter().collect();
        self.answer(key, &json!({ "roots": roots }))
    }

    fn answer(mut self, key: &str, answer: &impl Serialize) -> Self {
        // A value that cannot be written as JSON is omitted; the question then fails with an error
        // that names its key.
        if let Ok(answer) = serde_json::to_value(answer) {
            self.answers.push((key.to_owned(), answer));
        }
        self
    }

    pub(crate) fn into_asker(self) -> Asker {
        let mut round = Round::new(Revision::LATEST, self.capabilities);
        // No questions are known yet. So an answer that does not match its question is found when
        // the question is asked.
        let merged = round.merge(self.answers);
        debug_assert!(merged.is_ok(), "answers are held until they are asked for");
        Asker(Arc::new(Asking {
            state: AskState::new(round, None),
            way: Way::Scripted,
            task: OnceLock::new(),
            asks_by_tasks: false,
        }))
    }
}
