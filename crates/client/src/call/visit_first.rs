//! A server of 2025-11-25 may answer a call with the visits that have to be made first.

use std::time::Duration;

use turnbuckle_protocol::{
    ElicitAction, ElicitRequestParams, ElicitRequestUrlParams, InputRequest, InputResponse,
};

use crate::{
    error::CallError,
    future::join_all,
    link::{Link, MAX_OPEN_ASKS},
};

/// How long a user may take for visits before the call fails with what the server said, unless
/// the call has a deadline: as long as signing in somewhere may take with a second factor.
const VISIT_WITHIN: Duration = Duration::from_mins(10);

/// Has the visits made that a call was answered with. True when all of them are over, and the call
/// can be made again.
pub(super) async fn visited(link: &Link, error: &CallError, deadline: Option<Duration>) -> bool {
    let Some(visits) = visits_first(error) else {
        return false;
    };
    let all = join_all(visits.into_iter().map(|visit| make(link, visit)));
    let made = tokio::time::timeout(deadline.unwrap_or(VISIT_WITHIN), all).await;
    made.is_ok_and(|made| made.into_iter().all(|is_made| is_made))
}

/// The visits that a call was answered with, if they are as they should be.
pub(crate) fn visits_first(error: &CallError) -> Option<Vec<ElicitRequestUrlParams>> {
    let visits = error.rejection()?.url_elicitation_data()?.elicitations;
    // elicitation: the error MUST list visits, each with its id.
    let is_named = |visit: &ElicitRequestUrlParams| visit.elicitation_id.is_some();
    let is_sound =
        !visits.is_empty() && visits.len() <= MAX_OPEN_ASKS && visits.iter().all(is_named);
    is_sound.then_some(visits)
}

/// Asks the user, and waits until the server says that the visit is over.
async fn make(link: &Link, visit: ElicitRequestUrlParams) -> bool {
    let Some(server) = link.peer() else {
        return false;
    };
    let over = server.visits().expect(&visit);
    let visit = InputRequest::Elicit(Box::new(ElicitRequestParams::Url(visit)));
    if link.count_ask(&visit).is_err() {
        return false;
    }
    let answered = link.answer_ask(visit, None).await;
    match answered {
        Ok(InputResponse::Elicit(result)) if result.action == ElicitAction::Accept => {
            over.await;
            true
        }
        _ => false,
    }
}
