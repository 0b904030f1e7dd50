//! Calls that a server of 2025-11-25 refuses until the user has visited a URL (-32042).

use std::time::Duration;

use turnbuckle_protocol::{
    ElicitAction, ElicitRequestParams, ElicitRequestUrlParams, InputRequest, InputResponse,
};

use crate::{
    error::CallError,
    link::{Link, MAX_OPEN_ASKS},
};

/// How long a user may take for the visits before the call fails with the server's error, unless the
/// call has a deadline: as long as it may take to sign in with a second factor.
const VISIT_WITHIN: Duration = Duration::from_mins(10);

/// Asks the user to make the visits that a call was refused for. Returns true when the call can be sent
/// again: all visits are over, or the connection has ended.
pub(super) async fn visited(
    link: &Link,
    error: &CallError,
    deadline: Option<Duration>,
    tag: Option<u64>,
) -> bool {
    let Some(visits) = visits_first(error) else {
        return false;
    };
    // One visit after the other, because a user can only look at one page at a time.
    let all = async {
        for visit in visits {
            if !make(link, visit, tag).await {
                return false;
            }
        }
        true
    };
    let made = tokio::time::timeout(deadline.unwrap_or(VISIT_WITHIN), all);
    tokio::select! {
        biased;
        made = made => made.unwrap_or(false),
        // The call that is sent again reports why the connection ended.
        _ = link.lifecycle.ended() => true,
    }
}

/// Returns the visits that the error of a call asks for, if they are valid.
pub(crate) fn visits_first(error: &CallError) -> Option<Vec<ElicitRequestUrlParams>> {
    let visits = error.rejection()?.url_elicitation_data()?.elicitations;
    // elicitation: the error MUST list visits, each with its id.
    let is_named = |visit: &ElicitRequestUrlParams| visit.elicitation_id.is_some();
    let is_sound =
        !visits.is_empty() && visits.len() <= MAX_OPEN_ASKS && visits.iter().all(is_named);
    is_sound.then_some(visits)
}

/// Asks the user, and waits until the server or the user says that the visit is over.
async fn make(link: &Link, visit: ElicitRequestUrlParams, tag: Option<u64>) -> bool {
    let Some(server) = link.peer() else {
        return false;
    };
    let over = server.visits().expect_first(&visit);
    let visit = InputRequest::Elicit(Box::new(ElicitRequestParams::Url(visit)));
    if link.count_ask(&visit).is_err() {
        return false;
    }
    let answered = link.answer_ask(visit, tag).await;
    match answered {
        Ok(InputResponse::Elicit(result)) if result.action == ElicitAction::Accept => {
            over.await;
            true
        }
        _ => false,
    }
}
