//! `Connection::by_hand` and `Connection::resume`.

use std::future::IntoFuture;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{
    ElicitAction, ElicitRequestParams, InputRequest, InputRequiredResult, InputResponse,
    InputResponses, Lower, ProgressNotificationParams,
};

use super::{Answerable, Pending, Round};
use crate::{
    answer::{check_form, invalid_meta_key},
    call::{ClientCall, ProgressListener, unless_cancelled},
    connection::Connection,
    error::CallError,
    link::Canceller,
    task,
};

/// A call whose questions are answered by hand, or the continuation of such a call. Made by
/// [`Connection::by_hand`] and [`Connection::resume`]. It is sent when it is awaited.
///
/// # Cancel safety
/// Dropping the future cancels the call and tells the server.
#[must_use = "nothing is sent before it is awaited"]
pub struct ByHand<'a, R> {
    connection: &'a Connection,
    start: Start<'a, R>,
    progress: Option<ProgressListener<'a>>,
    canceller: Option<Canceller>,
}

enum Start<'a, R> {
    Call(Box<ClientCall<'a, R>>),
    Resume(Box<Pending<R>>, InputResponses),
}

impl Connection {
    /// Makes a call that returns the server's questions as data instead of calling the client's
    /// [`Answers`](crate::Answers). The questions can be answered later, or by another process.
    ///
    /// ```no_run
    /// use turnbuckle_client::{Answers, Client, Round, protocol::ElicitResult};
    /// # async fn run(target: turnbuckle_client::Target) -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Client::new("my-app", "0.3.0").answering(Answers::new().forms_by_hand());
    /// let server = client.connect(target).await?;
    /// let mut round = server.by_hand(server.call("book", ())).await?;
    /// while let Round::Asked(pending) = round {
    ///     // It can be stored as text until the user has answered.
    ///     println!("{}", serde_json::to_string(&pending)?);
    ///     let keys = pending.asks().keys();
    ///     let answers = keys.map(|key| (key.clone(), ElicitResult::decline().into())).collect();
    ///     round = server.resume(pending, answers).await?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// In 2026-07-28 the request ends when the server asks, and any process can resume the call. In a
    /// session the request stays open for as long as this connection, for an hour at the most, and
    /// every question goes to the oldest call by hand, because a session does not say which call a
    /// question belongs to.
    ///
    /// A server of 2025-11-25 may refuse a call until the user has visited a URL (-32042). The visits
    /// are then returned as questions. Answer them once the user has visited the URLs; the call is then
    /// sent again.
    ///
    /// The capabilities must still be declared with [`Answers`](crate::Answers), as in the example.
    pub fn by_hand<'a, R: Answerable>(&'a self, call: ClientCall<'a, R>) -> ByHand<'a, R> {
        ByHand {
            connection: self,
            canceller: call.options.canceller.clone(),
            start: Start::Call(Box::new(call)),
            progress: None,
        }
    }

    /// Resumes a call with answers to its questions. A question without an answer is asked again;
    /// an answer without a question is ignored.
    ///
    /// # Errors
    /// [`CallError::NotResumable`] for a call of a session that is not on this connection, and
    /// [`CallError::TooManyRounds`] if the server asks too often.
    pub fn resume<R: Answerable>(
        &self,
        pending: Pending<R>,
        answers: InputResponses,
    ) -> ByHand<'_, R> {
        ByHand {
            connection: self,
            start: Start::Resume(Box::new(pending), answers),
            progress: None,
            canceller: None,
        }
    }

    /// Waits until the questions of a call need no answer any more, because the server has withdrawn
    /// all of them or has answered the call. Then [`resume`](Self::resume) the call without answers to
    /// get its result.
    ///
    /// Use it to dismiss the dialog of a user who is still typing, by waiting for both:
    ///
    /// ```no_run
    /// # use turnbuckle_client::{Connection, Pending, ToolOutput, protocol::InputResponses};
    /// # async fn ask_the_user(pending: &Pending<ToolOutput>) -> InputResponses { todo!() }
    /// # async fn run(server: &Connection, pending: Pending<ToolOutput>) -> Result<(), Box<dyn std::error::Error>> {
    /// let answers = tokio::select! {
    ///     answers = ask_the_user(&pending) => answers,
    ///     () = server.withdrawn(&pending) => InputResponses::default(),
    /// };
    /// let round = server.resume(pending, answers).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// Only calls in sessions can have their questions withdrawn. For all other calls this future never
    /// completes.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn withdrawn<R>(&self, pending: &Pending<R>) {
        let ticket = pending.call.parked.as_deref();
        match ticket.and_then(|ticket| self.link().manual.look_up(ticket)) {
            Some(call) => call.withdrawn().await,
            None => std::future::pending().await,
        }
    }

    /// Cancels a call that waits for answers. A call of a session is cancelled at the server, and so is
    /// a task. Any other modern call has already ended at the server, so nothing is sent.
    pub fn give_up<R>(&self, pending: &Pending<R>) {
        if let Some(ticket) = &pending.call.parked {
            drop(self.link().manual.fetch(ticket));
        }
        if let Some(ticket) = &pending.call.task {
            task::give_up(self, ticket);
        }
    }
}

impl<'a, R: Answerable> ByHand<'a, R> {
    /// Asks for progress notifications of the resumed call, as [`ClientCall::progress`] does for a new
    /// one. In a session, progress is only reported if the call asked for it when it was first sent.
    pub fn progress(
        mut self,
        listener: impl FnMut(ProgressNotificationParams) + Send + 'a,
    ) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Lets another task cancel the resumed call with a reason, as [`ClientCall::cancel_with`] does for
    /// a new one. In a session the server gets the reason of the canceller that was set on the original
    /// call.
    pub fn cancel_with(mut self, canceller: &Canceller) -> Self {
        self.canceller = Some(canceller.clone());
        self
    }

    async fn run(self) -> Result<Round<R>, CallError> {
        let Self {
            connection,
            start,
            progress,
            canceller,
        } = self;
        let link = connection.link();
        let is_modern = link.revision().is_modern();
        match start {
            Start::Call(mut call) => {
                call.options.progress = progress.or(call.options.progress);
                call.options.canceller.clone_from(&canceller);
                let method = call.method.clone();
                let run = async {
                    if is_modern {
                        (*call).run_by_hand(None, None, 0).await
                    } else {
                        (*call).run_in_session(connection, 0).await
                    }
                };
                unless_cancelled(canceller, link, &method, run).await
            }
            Start::Resume(pending, answers) => {
                let method = pending.call.method.clone();
                let run = connection.go_on(*pending, answers, progress, canceller.clone());
                unless_cancelled(canceller, link, &method, run).await
            }
        }
    }
}

impl Connection {
    async fn go_on<'a, R: Answerable>(
        &'a self,
        pending: Pending<R>,
        answers: InputResponses,
        progress: Option<ProgressListener<'a>>,
        canceller: Option<Canceller>,
    ) -> Result<Round<R>, CallError> {
        let link = self.link();
        let mut answers = pending.only_asked(answers);
        for (key, answer) in &mut answers {
            check(&pending, key, answer)?;
            if let Some(key) = invalid_meta_key(answer) {
                return Err(CallError::invalid_meta_key(&pending.call.method, key));
            }
            answer.lower(link.revision());
        }
        let mut call = R::again(self, &pending);
        call.options.progress = progress;
        call.options.canceller = canceller;
        if let Some(ticket) = pending.call.task {
            let rounds = pending.call.rounds;
            return call.resume_task(self, ticket, answers, rounds).await;
        }
        if pending.call.is_visit_first {
            let made = |key: &String| {
                let answer = answers.get(key).and_then(InputResponse::as_elicitation);
                answer.is_some_and(|answer| answer.action == ElicitAction::Accept)
            };
            if !pending.call.input_requests.keys().all(made) {
                let asks = pending.call.input_requests;
                return Err(CallError::InputRequired {
                    server: link.server().clone(),
                    method: pending.call.method.as_str().into(),
                    reason: "each URL elicitation must be accepted before the call is sent again"
                        .to_owned(),
                    asked: Box::new(InputRequiredResult::new(asks)),
                });
            }
            return call.run_in_session(self, pending.call.rounds).await;
        }
        match &pending.call.parked {
            None if link.revision().is_modern() => {
                let (state, rounds) = (pending.call.request_state, pending.call.rounds);
                call.run_by_hand(Some(answers), state, rounds).await
            }
            Some(ticket) if !link.revision().is_modern() => {
                let parked = link.manual.fetch(ticket);
                let parked = parked.ok_or_else(|| self.not_resumable(&pending))?;
                parked.call.answer(answers);
                call.go_on(parked, pending.call.rounds).await
            }
            _ => Err(self.not_resumable(&pending)),
        }
    }

    fn not_resumable<R>(&self, pending: &Pending<R>) -> CallError {
        let reason = if pending.is_portable() {
            "it was paused in revision 2026-07-28, and the older revision of this connection cannot \
             resume it"
        } else {
            "it can only be resumed in the session in which it was made, within an hour"
        };
        CallError::NotResumable {
            server: self.link().server().clone(),
            method: pending.call.method.as_str().into(),
            reason: reason.into(),
        }
    }
}

impl<'a, R: Answerable> IntoFuture for ByHand<'a, R> {
    type Output = Result<Round<R>, CallError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// elicitation: clients SHOULD validate their answer against the schema of the form.
fn check<R>(pending: &Pending<R>, key: &str, answer: &InputResponse) -> Result<(), CallError> {
    let Some(InputRequest::Elicit(asked)) = pending.call.input_requests.get(key) else {
        return Ok(());
    };
    let (ElicitRequestParams::Form(form), Some(filled)) = (&**asked, answer.as_elicitation())
    else {
        return Ok(());
    };
    check_form(&form.requested_schema, filled.clone())
        .map(drop)
        .map_err(|refusal| {
            let source = serde::ser::Error::custom(format_args!("`{key}`: {refusal}"));
            CallError::unwritable(&pending.call.method, source)
        })
}
