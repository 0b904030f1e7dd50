//! Completion while the user types: requested when the typing pauses, and only once for the same text.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{CompleteRequestParams, Completion};

use crate::{connection::Connection, error::CallError};

/// How long the typing must pause before the server is asked: shorter than a user notices.
const PAUSE: Duration = Duration::from_millis(150);

/// How long an answer is kept: about as long as a user needs to fill in a form.
const KEPT_FOR: Duration = Duration::from_mins(1);

/// How many answers are kept; the oldest are removed first.
const MAX_KEPT: usize = 256;

/// Completion for an input field. It waits for a pause in the typing and caches answers. Made by
/// [`Connection::input_completion`]. Clones share the cache.
///
/// completion: clients SHOULD debounce requests and cache results.
///
/// ```no_run
/// use turnbuckle_client::protocol::{CompleteRequestParams, Reference};
/// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
/// let field = server.input_completion();
/// let typed = CompleteRequestParams::new(Reference::prompt("review"), "language", "ru");
/// // `None` if the text changed meanwhile: the newer text gets its own answer.
/// if let Some(completion) = field.complete(typed).await? {
///     println!("{:?}", completion.values);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct InputCompletion {
    connection: Connection,
    pause: Duration,
    kept_for: Duration,
    state: Arc<CompletionState>,
}

#[derive(Debug, Default)]
struct CompletionState {
    /// Counts the changes of the text.
    typed: AtomicU64,
    /// Answers by request, the oldest first.
    kept: Mutex<VecDeque<(String, Instant, Completion)>>,
}

impl Connection {
    /// Creates the completion for an input field in which the user types: it waits for a pause in the
    /// typing and caches answers. Create one for each field. Use [`complete`](Self::complete) for a
    /// single request.
    pub fn input_completion(&self) -> InputCompletion {
        InputCompletion {
            connection: self.clone(),
            pause: PAUSE,
            kept_for: KEPT_FOR,
            state: Arc::default(),
        }
    }
}

impl InputCompletion {
    /// Sets how long the typing must pause before the server is asked. Defaults to 150 ms.
    pub fn pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Sets how long answers are cached. Defaults to a minute; zero switches the cache off.
    pub fn kept_for(self, kept_for: Duration) -> Self {
        Self { kept_for, ..self }
    }

    /// Returns completions for the typed text. A cached answer is returned at once; otherwise the
    /// server is asked when the typing pauses. Returns `None` if the text changed meanwhile.
    ///
    /// # Errors
    /// Fails as [`Connection::complete`] does.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, if it was already sent.
    pub async fn complete(
        &self,
        params: CompleteRequestParams,
    ) -> Result<Option<Completion>, CallError> {
        let turn = self.state.typed.fetch_add(1, Ordering::Relaxed) + 1;
        let is_newest = || self.state.typed.load(Ordering::Relaxed) == turn;
        let asked = serde_json::to_string(&params)
            .map_err(|source| CallError::unwritable("completion/complete", source))?;
        if let Some(kept) = self.kept(&asked) {
            return Ok(Some(kept));
        }
        tokio::time::sleep(self.pause).await;
        if !is_newest() {
            return Ok(None);
        }
        let completion = self.connection.complete_with(params).await?;
        self.keep(asked, completion.clone());
        Ok(is_newest().then_some(completion))
    }

    fn kept(&self, asked: &str) -> Option<Completion> {
        let mut kept = self.state.kept.lock();
        kept.retain(|(_, since, _)| since.elapsed() < self.kept_for);
        let found = kept.iter().find(|(other, ..)| other == asked)?;
        Some(found.2.clone())
    }

    fn keep(&self, asked: String, completion: Completion) {
        let mut kept = self.state.kept.lock();
        kept.retain(|(other, ..)| *other != asked);
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back((asked, Instant::now(), completion));
    }
}
