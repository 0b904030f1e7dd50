//! Waits for the end of a task, and answers its questions.

use std::time::Duration;

use serde_json::value::RawValue;
use turnbuckle_protocol::{ErrorObject, InputRequests, InputRequiredResult, Task, error::code};
use turnbuckle_session::requests::Overdue;

use super::{
    TaskTicket,
    poll::{self, LookState},
};
use crate::{connection::Connection, error::CallError};

/// How often a task may ask. A form with a page for each question stays below the limit; a server that
/// asks endlessly is stopped.
const MAX_ROUNDS: usize = 100;

const CALL: &str = "tools/call";

/// The result of following a task.
pub(crate) enum Followed {
    /// The result, as its call would have returned it.
    Done(Box<RawValue>),
    /// Questions that must be answered by hand.
    Asked(InputRequests),
}

/// How the questions of a task are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answering {
    Handlers,
    ByHand,
}

/// Waits for the result of a task, in the form in which its call would have returned it.
///
/// # Cancel safety
/// Dropping the future does not affect the task.
pub(crate) async fn follow(
    connection: &Connection,
    ticket: &mut TaskTicket,
) -> Result<Box<RawValue>, CallError> {
    match follow_with(connection, ticket, Answering::Handlers).await? {
        Followed::Done(result) => Ok(result),
        Followed::Asked(_) => Err(too_many(connection)),
    }
}

async fn follow_with(
    connection: &Connection,
    ticket: &mut TaskTicket,
    answering: Answering,
) -> Result<Followed, CallError> {
    let mut rounds = 0;
    let is_session = !connection.server().revision().is_modern();
    loop {
        // In a session the server keeps `tasks/result` open until there is a result.
        if is_session && let Some(result) = fetch(connection, ticket).await? {
            return Ok(Followed::Done(result));
        }
        let look = poll::look_patiently(connection, ticket).await?;
        match look.state {
            LookState::Done(result) => return Ok(Followed::Done(result)),
            LookState::Failed(error) => return Err(rejected(connection, error)),
            LookState::Cancelled => {
                let message = look.task.status_message;
                let message = message.unwrap_or_else(|| "the task was cancelled".to_owned());
                let error = ErrorObject::new(code::INTERNAL_ERROR, message);
                return Err(rejected(connection, error));
            }
            LookState::Asks(mut asked) if answering == Answering::ByHand => {
                asked.retain(|key, _| !ticket.answered.contains(key));
                if !asked.is_empty() {
                    return offered(connection, asked);
                }
            }
            LookState::Asks(asked) => {
                if answer(connection, ticket, asked).await? {
                    rounds += 1;
                    if rounds == MAX_ROUNDS {
                        return Err(too_many(connection));
                    }
                    // The task may continue at once, so poll it without a pause.
                    continue;
                }
            }
            LookState::Waiting | LookState::Fetch => {}
        }
        tokio::time::sleep(ticket.poll_interval()).await;
    }
}

/// Follows the task of a call that is awaited. Dropping the future cancels the task.
pub(crate) async fn wait(
    connection: &Connection,
    tool: &str,
    task: &Task,
    deadline: Option<Duration>,
) -> Result<Box<RawValue>, CallError> {
    let mut ticket = TaskTicket::new(tool, task);
    let mut guard = CancelOnDrop(Some((connection.clone(), task.task_id.clone())));
    let server = connection.link().server();
    let following = async {
        if connection.server().revision().is_modern() {
            // The call has just returned a running task, so wait before the first poll.
            tokio::time::sleep(ticket.poll_interval()).await;
        }
        follow(connection, &mut ticket).await
    };
    let followed = match deadline {
        None => following.await,
        Some(limit) => tokio::time::timeout(limit, following)
            .await
            .unwrap_or_else(|_| Err(CallError::overdue(server, CALL, Overdue::Total(limit)))),
    };
    match &followed {
        // Nothing waits for the result any more, so the task is cancelled when the guard is dropped.
        Err(
            CallError::Deadline { .. }
            | CallError::InputRequired { .. }
            | CallError::TooManyRounds { .. },
        ) => {}
        _ => guard.0 = None,
    }
    followed
}

/// Follows the task of a call whose questions are answered by hand. If the future is dropped, or the
/// deadline is over, the task is cancelled.
pub(crate) async fn wait_by_hand(
    connection: &Connection,
    ticket: &mut TaskTicket,
    deadline: Option<Duration>,
) -> Result<Followed, CallError> {
    let mut guard = CancelOnDrop(Some((connection.clone(), ticket.task_id.clone())));
    let server = connection.link().server();
    let following = follow_with(connection, ticket, Answering::ByHand);
    let followed = match deadline {
        None => following.await,
        Some(limit) => tokio::time::timeout(limit, following)
            .await
            .unwrap_or_else(|_| Err(CallError::overdue(server, CALL, Overdue::Total(limit)))),
    };
    if !matches!(
        followed,
        Err(CallError::Deadline { .. } | CallError::InputRequired { .. })
    ) {
        guard.0 = None;
    }
    followed
}

/// Cancels a task in the background.
pub(crate) fn give_up(connection: &Connection, ticket: &TaskTicket) {
    drop(CancelOnDrop(Some((
        connection.clone(),
        ticket.task_id.clone(),
    ))));
}

/// Returns the questions for the application, if the client has declared that it answers them.
fn offered(connection: &Connection, asked: InputRequests) -> Result<Followed, CallError> {
    let link = connection.link();
    match link.check_asks(&asked) {
        Ok(()) => Ok(Followed::Asked(asked)),
        Err(reason) => Err(CallError::InputRequired {
            server: link.server().clone(),
            method: CALL.into(),
            reason,
            asked: Box::new(InputRequiredResult::new(asked)),
        }),
    }
}

/// Cancels a task when it is dropped.
struct CancelOnDrop(Option<(Connection, String)>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((connection, task)) = self.0.take() else {
            return;
        };
        // Without a runtime there is no connection either.
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let owner = connection.clone();
        owner.run_parting(async move {
            // The result of cancelling does not matter to anyone.
            let _ = poll::cancel(&connection, &task).await;
        });
    }
}

/// Fetches the result in a session. The server sends its questions before it answers this request.
async fn fetch(
    connection: &Connection,
    ticket: &TaskTicket,
) -> Result<Option<Box<RawValue>>, CallError> {
    let method = "tasks/result";
    match poll::ask(connection, method, &ticket.task_id, None).await {
        Ok(result) => Ok(Some(result)),
        // In this case the task is polled again, which fails if the server is gone for good.
        Err(error @ CallError::Rejected { .. }) => Err(error),
        Err(error) if error.is_passing() && !connection.link().is_closed() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Answers the questions that were not answered before. Returns whether there were any.
async fn answer(
    connection: &Connection,
    ticket: &mut TaskTicket,
    mut asked: InputRequests,
) -> Result<bool, CallError> {
    // tasks extension: clients SHOULD recognise questions that they have seen by their keys.
    asked.retain(|key, _| !ticket.answered.contains(key));
    if asked.is_empty() {
        return Ok(false);
    }
    let link = connection.link();
    match link.answer_asks(&asked, None).await {
        Ok(responses) => {
            poll::update(connection, ticket, responses).await?;
            Ok(true)
        }
        Err(reason) => Err(CallError::InputRequired {
            server: link.server().clone(),
            method: CALL.into(),
            reason,
            asked: Box::new(InputRequiredResult::new(asked)),
        }),
    }
}

fn rejected(connection: &Connection, error: ErrorObject) -> CallError {
    CallError::Rejected {
        server: connection.link().server().clone(),
        method: CALL.into(),
        error: Box::new(error),
    }
}

fn too_many(connection: &Connection) -> CallError {
    CallError::TooManyRounds {
        server: connection.link().server().clone(),
        method: CALL.into(),
        rounds: MAX_ROUNDS,
    }
}
