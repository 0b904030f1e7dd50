//! The connection of a command: its messages are shown or recorded, its questions answered, and it is closed in order.

use std::{
    future::{Future, IntoFuture as _},
    pin::{Pin, pin},
    time::{Duration, Instant},
};

use serde::Serialize;
use turnbuckle::{
    Answers, ConnectError, Connection, Round,
    client::{Answerable, Canceller, ClientCall},
    protocol::{InputRequests, InputResponses, ProgressNotificationParams},
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    style::{Style, elapsed},
    target::{Options, Server},
    wire::Wire,
};

use crate::{
    ask::{Answerer, AskOptions},
    known_revision::KnownRevision,
    runtime::stop_signal,
    show::{ProgressLine, print, print_json},
    time_limit::TimeLimit,
};

/// How long an interrupted server may take to end.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// How long a server may take to end by itself: the time that a client gives its process, and the time to
/// clean up after killing it.
const ENDING: Duration = Duration::from_secs(5);

/// A connection, with everything that belongs to it.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) wire: Wire,
    /// Cancels the calls, with the reason, when the command is interrupted.
    canceller: Canceller,
    name: String,
    started: Instant,
    limit: TimeLimit,
}

/// The result of a call, and how often the call was sent.
pub(crate) struct Finished<R> {
    pub(crate) result: R,
    rounds: usize,
}

/// Connects, runs the work, and closes the connection in any case, within the time of the options. Ctrl-C
/// drops the work, which cancels its calls on the wire, and then ends the connection.
pub(crate) async fn with<T, F>(
    options: &Options,
    asks: Option<&AskOptions>,
    server: &Server,
    work: impl FnOnce(Session) -> F,
) -> Outcome<T>
where
    F: Future<Output = Outcome<T>>,
{
    let limit = TimeLimit::new(options.longest());
    let answers = asks.map(AskOptions::offer).transpose()?;
    run(options, answers, server, limit, work).await
}

/// The same for work that has no end of its own: only connecting has a time limit.
pub(crate) async fn open_ended<T>(
    options: &Options,
    answers: Option<Answers>,
    server: &Server,
    work: impl AsyncFnOnce(Session) -> Outcome<T>,
) -> Outcome<T> {
    let limit = TimeLimit::new(options.longest());
    let endless = async |session: Session| {
        let limit = session.limit.clone();
        limit.stopped(work(session)).await
    };
    run(options, answers, server, limit, endless).await
}

async fn run<T, F>(
    options: &Options,
    answers: Option<Answers>,
    server: &Server,
    limit: TimeLimit,
    work: impl FnOnce(Session) -> F,
) -> Outcome<T>
where
    F: Future<Output = Outcome<T>>,
{
    options.suits(&server.launch)?;
    let wire = server.wire(options)?;
    let client = wire.tap(options.client());
    let client = match answers {
        Some(answers) => client.answering(answers),
        None => client,
    };
    let target = if options.wire {
        server.shown_target(options, &wire)?
    } else {
        server.target(options)?
    };
    let recorded = wire.clone();
    let started = Instant::now();
    let mut stop = pin!(stop_signal());
    let late = || overdue(&server.name, options.longest());
    let connect = server.named(client.connect(target));
    let (known, connect) = KnownRevision::look_up(server, options, connect);
    let connecting = connect.into_future();
    let connection = tokio::select! {
        connected = connecting => {
            connected.map_err(|error| server.explain_no_connection(no_connection(options, error)))?
        }
        () = stop.as_mut() => return Err(Failed::interrupted()),
        () = limit.exhausted() => return Err(server.explain_no_connection(late())),
    };
    known.connected(&connection);
    let late = || overdue(connection.server().name(), options.longest());
    let canceller = Canceller::new();
    let session = Session {
        connection: connection.clone(),
        canceller: canceller.clone(),
        wire,
        name: server.name.clone(),
        started,
        limit: limit.clone(),
    };
    // When one of these is ready the calls are dropped, and the reason must be set by then.
    let interrupted = async {
        stop.as_mut().await;
        canceller.cancel("the user interrupted it");
    };
    let exhausted = async {
        limit.exhausted().await;
        canceller.cancel("the time limit of the command was reached");
    };
    let outcome = tokio::select! {
        outcome = work(session) => outcome,
        () = interrupted => Err(Failed::interrupted()),
        () = exhausted => Err(late().hint("`--timeout 120` waits longer")),
    };
    end(server, &connection, &outcome, stop).await;
    let outcome = outcome.map_err(|failed| server.explain(failed.as_it_came(recorded.errors())))?;
    recorded.all_written()?;
    Ok(outcome)
}

/// Explains a failed connection. If the command line sets a revision or an era, that may be the reason.
fn no_connection(options: &Options, error: ConnectError) -> Failed {
    let pinned = match (options.revision, options.era) {
        (Some(_), _) => "--revision",
        (None, Some(_)) => "--era",
        (None, None) => return Failed::from(error),
    };
    let is_unsupported = matches!(error, ConnectError::Unsupported { .. });
    let failed = Failed::from(error);
    if is_unsupported {
        return failed.hint(format!(
            "without `{pinned}`, a revision is chosen that both sides speak"
        ));
    }
    failed
}

/// Closes the connection. After an interruption, or one during the closing, it may take only a little time.
async fn end<T>(
    server: &Server,
    connection: &Connection,
    outcome: &Outcome<T>,
    stop: Pin<&mut impl Future<Output = ()>>,
) {
    let is_cut_short = |failed: &Failed| matches!(failed.code, Code::Interrupted | Code::Timeout);
    let ended = if outcome.as_ref().is_err_and(is_cut_short) {
        connection.close_within(CLOSE_WITHIN).await
    } else {
        tokio::select! {
            ended = tokio::time::timeout(ENDING, connection.close()) => ended.ok(),
            () = stop => connection.close_within(CLOSE_WITHIN).await,
        }
    };
    if ended.is_none() {
        tell(&format!(
            "warning: the connection to server `{}` did not close in time",
            server.name
        ));
    }
}

fn overdue(server: &str, limit: Duration) -> Failed {
    let text = format!("server `{server}` did not finish within {}", elapsed(limit));
    Failed::new(Code::Timeout, text)
}

impl Session {
    /// Makes a call and answers the server's questions.
    pub(crate) async fn finish<'a, R: Answerable>(
        &'a self,
        call: ClientCall<'a, R>,
        answerer: &Answerer,
        is_json: bool,
    ) -> Outcome<Finished<R>> {
        let line = ProgressLine::new();
        let report = |report: ProgressNotificationParams| line.show(&report);
        let first = call.progress(report).cancel_with(&self.canceller);
        let mut rounds = 1;
        let mut round = self.connection.by_hand(first).await;
        loop {
            line.clear();
            let pending = match round? {
                Round::Done(result) => {
                    answerer.tell_unasked();
                    return Ok(Finished { result, rounds });
                }
                Round::Asked(pending) => pending,
            };
            let news = self.connection.notifications();
            let answering = async {
                tokio::select! {
                    answers = answerer.answer(&self.name, pending.asks()) => answers,
                    () = self.connection.withdrawn(&pending) => {
                        tell("note: the server no longer needs an answer");
                        Ok(InputResponses::default())
                    }
                }
            };
            let answers = self.limit.stopped(answering).await;
            let answers = answers.or_else(|unanswered| {
                self.connection.give_up(&pending);
                if is_json {
                    print_json(&unanswered.asked)?;
                }
                Err(unanswered.failed)
            })?;
            if pending.is_visit_first() {
                let waiting = answerer.visited(pending.asks(), &answers, news);
                self.limit.stopped(waiting).await?;
            }
            rounds += 1;
            let again = self.connection.resume(pending, answers);
            let again = again.cancel_with(&self.canceller);
            round = again.progress(|report| line.show(&report)).await;
        }
    }

    /// Answers the questions of a task. If there is no answer, the questions are printed if requested.
    pub(crate) async fn answer(
        &self,
        answerer: &Answerer,
        asks: &InputRequests,
        is_json: bool,
    ) -> Outcome<InputResponses> {
        let answering = answerer.answer(&self.name, asks);
        self.limit.stopped(answering).await.or_else(|unanswered| {
            if is_json {
                print_json(&unanswered.asked)?;
            }
            Err(unanswered.failed)
        })
    }

    /// Prints the newest result of a method exactly as the server wrote it.
    pub(crate) fn print_exact(&self, method: &str, otherwise: &impl Serialize) -> Outcome {
        match self.wire.result(method) {
            Some(exact) => {
                print(exact.get());
                Ok(())
            }
            None => print_json(otherwise),
        }
    }

    /// Prints how long the call took, for people.
    pub(crate) fn tell<R>(&self, finished: &Finished<R>) {
        use std::io::IsTerminal as _;
        if !std::io::stderr().is_terminal() {
            return;
        }
        let rounds = match finished.rounds {
            1 => String::new(),
            steps => format!("{steps} steps, "),
        };
        let took = elapsed(self.started.elapsed());
        tell(&Style::Dim.err(&format!("      done in {rounds}{took}")));
    }
}
