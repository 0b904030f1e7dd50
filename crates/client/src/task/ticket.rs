//! `TaskTicket`: data with which a task can be found again.

use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};
use turnbuckle_protocol::Task;

/// How long to wait between two polls if the server does not say.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The bounds of the interval that a server may ask for: polls must be neither constant nor too rare.
const SHORTEST_POLL: Duration = Duration::from_millis(5);
const LONGEST_POLL: Duration = Duration::from_mins(1);

/// The data to return to a task. Store it, and pass it to [`Connection::task`](crate::Connection::task)
/// on a connection to the same server, even in another process.
///
/// Anyone who has the ticket may be able to read the result, so treat it as a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskTicket {
    /// The id that the server gave the task.
    pub task_id: String,
    /// The tool that was called. Its output schema is used to check the result.
    pub tool: String,
    /// How many milliseconds the server wants between two polls; one second if it does not say. The
    /// interval is limited to between 5 ms and one minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// The keys of the questions that were answered, so that no question is asked twice.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub answered: BTreeSet<String>,
}

impl TaskTicket {
    pub(crate) fn new(tool: &str, task: &Task) -> Self {
        Self {
            task_id: task.task_id.clone(),
            tool: tool.to_owned(),
            poll_interval_ms: task.poll_interval_ms,
            answered: BTreeSet::new(),
        }
    }

    /// tasks: requestors SHOULD respect the interval.
    pub(super) fn poll_interval(&self) -> Duration {
        let wanted = self.poll_interval_ms.map(Duration::from_millis);
        let wanted = wanted.unwrap_or(POLL_INTERVAL);
        wanted.clamp(SHORTEST_POLL, LONGEST_POLL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: D7
    // tasks: requestors SHOULD respect the interval.
    #[test]
    fn the_servers_interval_is_kept_within_reason() {
        let interval = |wanted| {
            let ticket = TaskTicket {
                task_id: "t".to_owned(),
                tool: "slow".to_owned(),
                poll_interval_ms: wanted,
                answered: BTreeSet::new(),
            };
            ticket.poll_interval()
        };
        assert_eq!(interval(Some(5_000)), Duration::from_secs(5));
        assert_eq!(interval(None), POLL_INTERVAL);
        assert_eq!(interval(Some(0)), SHORTEST_POLL);
        assert_eq!(interval(Some(u64::MAX)), LONGEST_POLL);
    }
}
