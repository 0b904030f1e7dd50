//! Runs an exchange in a separate task.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle::{Connection, protocol::LoggingLevel};

use super::{round, task};
use crate::{
    check::{self, OutputCheck},
    current,
    exchange::{Exchange, Progress, Status, Wanted},
    inspector::Inspector,
    message,
    problem::{Problem, Who},
    raw::Raw,
};

/// How many exchanges may run at once: each may hold a request open on a server.
const MAX_RUNNING: usize = 256;

/// Why no request was sent.
pub(crate) enum Unsent {
    NoServer,
    NotConnected,
    TooMany,
}

/// An exchange that is under way.
pub(crate) struct Job {
    pub(crate) inspector: Arc<Inspector>,
    pub(crate) n: u64,
    pub(crate) server: String,
    pub(crate) connection: Connection,
    pub(crate) wanted: Wanted,
}

impl Inspector {
    /// The equivalent command line, if there is one.
    fn command_line(&self, server: &str, wanted: &Wanted) -> Option<String> {
        let mut state = self.lock();
        let entry = state.server(server)?;
        let offer = entry.offer.clone();
        let shell = entry.shell(&self.options);
        drop(state);
        shell.exchange(offer.as_deref(), wanted)
    }

    /// Starts an exchange with a request; returns its number.
    pub(crate) fn start(self: &Arc<Self>, server: &str, wanted: Wanted) -> Result<u64, Unsent> {
        let command = self.command_line(server, &wanted);
        let mut state = self.lock();
        let entry = state.server(server).ok_or(Unsent::NoServer)?;
        let connection = entry.connection.clone().ok_or(Unsent::NotConnected)?;
        if state.running.len() >= MAX_RUNNING {
            return Err(Unsent::TooMany);
        }
        state.exchange_count += 1;
        let n = state.exchange_count;
        let exchange = Exchange::new(n, server, &wanted, command);
        state.exchanges.push_back(exchange.clone());
        state.forget_old();
        self.events.publish("exchange", &exchange);
        let job = Job {
            inspector: self.clone(),
            n,
            server: server.to_owned(),
            connection,
            wanted,
        };
        // The task removes itself from this table when it ends; it cannot do so before, because of the lock.
        let running = tokio::spawn(current::for_exchange(n, job.run()));
        state.running.insert(n, running.abort_handle());
        Ok(n)
    }

    /// Cancels an exchange: dropping its future tells the server. Returns `false` if there is no such
    /// exchange.
    pub(crate) fn cancel(&self, n: u64) -> bool {
        let (running, task) = {
            let mut state = self.lock();
            let Some(running) = state.running.remove(&n) else {
                return false;
            };
            (running, state.task_of(n))
        };
        running.abort();
        // tasks: no request is under way between two polls of a task, so the task itself has to be cancelled.
        if let Some((connection, id)) = task {
            tokio::spawn(current::for_exchange(n, task::cancel(connection, id)));
        }
        // Questions that a session asked during the exchange are withdrawn.
        self.withdraw_asks(n);
        self.change(n, |exchange| exchange.end(Status::Cancelled));
        true
    }
}

impl Job {
    async fn run(self) {
        let outcome = self.outcome().await;
        let check = match &outcome {
            Ok(result) => self.check(result),
            Err(_) => None,
        };
        self.inspector.change(self.n, |exchange| match outcome {
            Ok(result) => {
                exchange.bytes = result.get().len();
                exchange.result = Some(result.into());
                exchange.output_check = check;
                exchange.end(Status::Done);
            }
            Err(problem) => {
                exchange.error = Some(problem);
                exchange.end(Status::Failed);
            }
        });
    }

    async fn outcome(&self) -> Result<Box<RawValue>, Problem> {
        if self.wanted.method == "logging/setLevel" {
            return self.set_level().await;
        }
        round::to_the_end(self).await
    }

    /// A modern server gets the level with each request, so nothing is sent.
    async fn set_level(&self) -> Result<Box<RawValue>, Problem> {
        #[derive(serde::Deserialize)]
        struct Params {
            level: LoggingLevel,
        }
        let params = self.wanted.params.as_deref().map_or("{}", RawValue::get);
        let Params { level } =
            serde_json::from_str(params).map_err(|error| Problem::of(Who::Validation, &error))?;
        let set = self.connection.set_log_level(level).await;
        set.map_err(|error| Problem::from(&error))?;
        Ok(Raw::of(&serde_json::json!({})).to_box())
    }

    /// Sends one request and waits for its answer.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> Result<Box<RawValue>, Problem> {
        let (inspector, n) = (&self.inspector, self.n);
        let call = self
            .connection
            .request_raw(method, params)
            .progress(move |report| {
                let progress = Progress {
                    progress: report.progress,
                    total: report.total,
                    message: report.message,
                };
                inspector.change(n, |exchange| exchange.progress = Some(progress));
            });
        let call = match self.wanted.log_level {
            Some(level) => call.log_level(level),
            None => call,
        };
        call.await.map_err(|error| {
            let came = self.inspector.wire.error_code(n);
            Problem::from(&error).with_code(came)
        })
    }

    /// Notes that the next round begins.
    pub(crate) fn is_in_round(&self, round: usize) {
        current::begin_round(round);
        self.inspector
            .change(self.n, |exchange| exchange.rounds = round);
    }

    fn check(&self, result: &RawValue) -> Option<OutputCheck> {
        if self.wanted.method != "tools/call" {
            return None;
        }
        let name = message::object_of(self.wanted.params.as_deref()?.get())?;
        let offer = self.inspector.known_offer(&self.server)?;
        let schema = offer.tool(&name)?.output_schema?;
        check::output(&schema, result)
    }
}
