//! One connection of a command: seen on the wire, answered when it asks, interrupted in order.

use std::{future::Future, time::Duration, time::Instant};

use turnbuckle::{
    Connection, Round,
    client::{Answerable, Call},
    protocol::ProgressNotificationParams,
};

use crate::{
    ask::{AskOptions, Desk},
    command::print_json,
    exit::{Code, Failed, Outcome},
    show::{ProgressLine, Style, elapsed},
    target::{Options, Server},
    wire::Wire,
};

/// How long a server has to end after an interruption. UX: Ctrl-C waits 2 s.
const PATIENCE: Duration = Duration::from_secs(2);

/// A connection, and all that belongs to it.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) wire: Wire,
    name: String,
    started: Instant,
}

/// What came of a call, and how often the server was asked for it.
pub(crate) struct Finished<R> {
    pub(crate) result: R,
    rounds: usize,
}

/// Connects, works, and closes, whatever happens. Ctrl-C drops the work, which cancels its calls on
/// the wire, and then ends the connection.
pub(crate) async fn with<T, F>(
    options: &Options,
    asks: Option<&AskOptions>,
    server: &Server,
    work: impl FnOnce(Session) -> F,
) -> Outcome<T>
where
    F: Future<Output = Outcome<T>>,
{
    let wire = Wire::new(options, server)?;
    let client = wire.tap(options.client());
    let client = match asks {
        Some(asks) => client.answering(asks.offer()),
        None => client,
    };
    let started = Instant::now();
    let connection = tokio::select! {
        connected = options.connect(server, &client) => connected?,
        () = interrupted() => return Err(Failed::interrupted()),
    };
    let session = Session {
        connection: connection.clone(),
        wire,
        name: server.name.clone(),
        started,
    };
    let outcome = tokio::select! {
        outcome = work(session) => outcome,
        () = interrupted() => Err(Failed::interrupted()),
    };
    let is_late = tokio::time::timeout(PATIENCE * 2, connection.close())
        .await
        .is_err();
    if is_late {
        tracing::warn!(server = %server.name, "the server does not end");
    }
    outcome
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Session {
    /// Makes a call and answers what the server asks in its middle.
    pub(crate) async fn finish<'a, R: Answerable>(
        &'a self,
        call: Call<'a, R>,
        desk: &Desk,
        is_json: bool,
    ) -> Outcome<Finished<R>> {
        let line = ProgressLine::new();
        let report = |report: ProgressNotificationParams| line.show(&report);
        let first = call.progress(report);
        let mut rounds = 1;
        let mut round = self.connection.by_hand(first).await;
        loop {
            line.clear();
            let pending = match round? {
                Round::Done(result) => return Ok(Finished { result, rounds }),
                Round::Asked(pending) => pending,
            };
            let answers = desk.answer(&self.name, pending.asks()).await;
            let answers = answers.or_else(|unanswered| {
                self.connection.give_up(&pending);
                if is_json {
                    print_json(&unanswered.asked)?;
                }
                Err(unanswered.failed)
            })?;
            rounds += 1;
            let again = self.connection.resume(pending, answers);
            round = again.progress(|report| line.show(&report)).await;
        }
    }

    /// Says how long it took, to a person.
    pub(crate) fn tell<R>(&self, finished: &Finished<R>) {
        use std::io::IsTerminal as _;
        if !std::io::stderr().is_terminal() {
            return;
        }
        let rounds = match finished.rounds {
            1 => String::new(),
            rounds => format!("{rounds} rounds, "),
        };
        let took = elapsed(self.started.elapsed());
        eprintln!(
            "{}",
            Style::Dim.err(&format!("      done in {rounds}{took}"))
        );
    }
}

impl Failed {
    fn interrupted() -> Self {
        Self::new(Code::Interrupted, "interrupted")
    }
}
