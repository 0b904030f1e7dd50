//! One exchange as the page shows it: the request, its messages and its result.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    ask::{Answered, Ask},
    check::OutputCheck,
    clock, message,
    problem::Problem,
    raw::Raw,
};

/// The state of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Running,
    Asked,
    Done,
    Failed,
    Cancelled,
}

/// The progress that the server reports.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Progress {
    pub(super) progress: f64,
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

/// An exchange.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange {
    pub(super) n: u64,
    pub(super) server: String,
    pub(super) method: String,
    pub(super) object: Option<String>,
    pub(super) params: Option<Raw>,
    #[serde(serialize_with = "clock::plain")]
    pub(super) started: f64,
    #[serde(serialize_with = "clock::plain_or_none")]
    pub(super) ended: Option<f64>,
    pub(super) status: Status,
    pub(super) rounds: usize,
    pub(super) progress: Option<Progress>,
    pub(super) asks: Vec<Ask>,
    /// The questions that were answered, with their answers.
    pub(super) answers: Vec<Answered>,
    pub(super) result: Option<Raw>,
    pub(super) error: Option<Problem>,
    pub(super) bytes: usize,
    pub(super) output_check: Option<OutputCheck>,
    pub(super) task_id: Option<String>,
    /// The task as the server last reported it.
    pub(super) task: Option<Raw>,
    pub(super) command: Option<String>,
}

/// The request that the page wants to send.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wanted {
    pub(super) method: String,
    pub(super) params: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) task: bool,
    pub(super) log_level: Option<turnbuckle::protocol::LoggingLevel>,
}

impl Exchange {
    pub(super) fn new(n: u64, server: &str, wanted: &Wanted, command: Option<String>) -> Self {
        let params = wanted.params.clone().map(Raw::from);
        Self {
            n,
            server: server.to_owned(),
            method: wanted.method.clone(),
            object: params
                .as_ref()
                .and_then(|params| message::object_of(params.text())),
            params,
            started: clock::now(),
            ended: None,
            status: Status::Running,
            rounds: 1,
            progress: None,
            asks: Vec::new(),
            answers: Vec::new(),
            result: None,
            error: None,
            bytes: 0,
            output_check: None,
            task_id: None,
            task: None,
            command,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// The memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        let params = self.params.as_ref().map_or(0, |params| params.text().len());
        let task = self.task.as_ref().map_or(0, |task| task.text().len());
        params + task + self.bytes
    }

    /// Ends the exchange.
    pub(super) fn end(&mut self, status: Status) {
        self.status = status;
        self.ended = Some(clock::now());
        self.asks.clear();
    }
}
