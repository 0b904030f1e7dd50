//! `Ask`: questions to the client.

use std::sync::Arc;

use turnbuckle_protocol::ClientCapabilities;
use turnbuckle_session::round::Declared;

use super::Extract;
use crate::{Asker, Call, Failure, ScriptedAnswers, handler::ask::Asking};

/// Extracts an [`Asker`] for questions to the client: `Ask(ask): Ask`. Use `Option<Ask>` in
/// handlers that also work without questions.
#[derive(Clone)]
pub struct Ask(pub Asker);

impl Ask {
    /// Answers questions from a script, without a client: for tests that call a handler as a
    /// function.
    pub fn scripted(answers: ScriptedAnswers) -> Self {
        Self(answers.into_asker())
    }
}

/// The questions of a call, which the first extractor that needs them creates.
fn asks_of(call: &Call<'_>) -> Result<Arc<Asking>, Failure> {
    if let Some(asking) = call.asks.begun.get() {
        return Ok(Arc::clone(asking));
    }
    let (origin, context) = (&call.origin, &call.context.asks);
    let (peer, revision) = (&origin.peer, origin.revision);
    let declared = || match call.request_meta().client_capabilities {
        Some(capabilities) => Declared::Text(capabilities.into()),
        None => Declared::from(ClientCapabilities::default()),
    };
    let asking = match (&call.asks.journal, revision.is_modern()) {
        (Some(journal), true) => Asking::of_task(peer, revision, declared(), journal.clone()),
        (Some(journal), false) => {
            let client = peer.client().unwrap_or_default();
            Asking::of_task(peer, revision, client.capabilities.into(), journal.clone())
        }
        (None, true) => Asking::in_rounds(context, peer, revision, declared(), &call.asks.rounds)?,
        (None, false) => Asking::in_session(peer, revision, context.settings.asks_by_tasks),
    };
    if let Some(task) = call.task.as_ref().filter(|task| task.takes_questions()) {
        asking.on_task(task);
    }
    Ok(call.asks.begin(asking))
}

impl Extract for Ask {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        asks_of(call).map(|asking| Self(Asker(asking)))
    }

    /// `None` if the client cannot be asked. A refused `requestState` is an error even here.
    fn extract_if_there(call: &Call<'_>) -> Result<Option<Self>, Failure> {
        match Self::extract(call) {
            Ok(ask) => Ok(Some(ask)),
            // mrtr: servers MUST reject state that fails verification.
            Err(Failure::Reject(reject)) => Err(Failure::Reject(reject)),
            Err(_) => Ok(None),
        }
    }
}
