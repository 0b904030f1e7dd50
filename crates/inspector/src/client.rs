//! The client that connects to a server of the inspector, and its work while it is connected.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Weak, atomic::AtomicBool},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::time::timeout;
use turnbuckle::{
    Answers, Client, ConnectError, Connection, Target,
    apps::{Ui, UiClient},
    auth::client::{Loopback, OAuth},
    client::{Era, Refusal, ServerAsk as Asked},
    protocol::{ElicitResult, LoggingLevel},
    transport::StderrLog,
};
use turnbuckle_command_line::target::{self, EraName, Server};
use turnbuckle_host::config::Launch;

use super::{
    ask::{Ask, Reply},
    current,
    http_row::HttpObserver,
    inspector::Inspector,
    listening,
    log_line::LogLine,
    origin::Pin,
    problem::{Problem, Who},
    raw::Raw,
    server::{Entry, Stage},
};

/// Everything that is needed to connect.
pub(super) struct Plan {
    id: String,
    server: Arc<Server>,
    pin: Pin,
    oauth: OAuth,
    may_sign_in: Arc<AtomicBool>,
    stderr: StderrLog,
}

impl Plan {
    pub(super) fn of(entry: &mut Entry) -> Self {
        let oauth = entry.oauth.get_or_insert_with(|| {
            let oauth = OAuth::new("turnbuckle");
            // If tokens cannot be stored, they last as long as the process.
            oauth.clone().persist_tokens().unwrap_or(oauth)
        });
        Self {
            id: entry.id.clone(),
            server: entry.server.clone(),
            pin: entry.pin,
            oauth: oauth.clone(),
            may_sign_in: entry.may_sign_in.clone(),
            stderr: entry.stderr.clone(),
        }
    }

    /// Connects, and monitors the connection until it ends. The program's stderr is passed on
    /// from its start.
    pub(super) async fn run(self, inspector: Arc<Inspector>, old: Option<Connection>) {
        tokio::select! {
            () = self.connected(&inspector, old) => {}
            () = self.follow_stderr(&inspector) => {}
        }
    }

    async fn connected(&self, inspector: &Arc<Inspector>, old: Option<Connection>) {
        if let Some(old) = old {
            old.close().await;
        }
        let connection = match self.connect(inspector).await {
            Ok(connection) => connection,
            Err(problem) => {
                inspector.change_server(&self.id, |entry| {
                    entry.stage = Stage::Failed;
                    entry.error = Some(problem);
                });
                return;
            }
        };
        let latency = inspector.wire.latency(&self.id);
        let info = connection.server().implementation().map(Raw::of);
        inspector.change_server(&self.id, |entry| {
            entry.stage = Stage::Open;
            entry.info = info;
            entry.connection = Some(connection.clone());
            entry.reading = Arc::default();
            entry.latency = latency;
        });
        listening::begin(inspector, &self.id, &connection);
        // The lists are read before the page requests them.
        tokio::join!(
            inspector.offer(&self.id, false),
            self.look_after(inspector, &connection)
        );
    }

    async fn connect(&self, inspector: &Arc<Inspector>) -> Result<Connection, Problem> {
        let target = self.target(inspector)?;
        let client = self.client(inspector);
        let connected: Result<Connection, ConnectError> =
            self.server.named(client.connect(target)).await;
        connected.map_err(|error| {
            let problem = Problem::from(&error);
            match error {
                ConnectError::Unsupported { .. } if self.pin.says_something() => problem
                    .hint("without a pinned revision or era, one is chosen that both sides speak"),
                _ => problem,
            }
        })
    }

    fn target(&self, inspector: &Arc<Inspector>) -> Result<Target, Problem> {
        let misconfigured = |failed: turnbuckle_command_line::failure::Failed| {
            Problem::new(Who::Validation, failed.said())
        };
        if let Some(program) = self.program() {
            return Ok(program);
        }
        let options = &inspector.options;
        let http = self.server.http_target(options).map_err(misconfigured)?;
        match http {
            Some(http) => {
                let observer = HttpObserver::new(
                    self.id.clone(),
                    inspector.wire.clone(),
                    self.oauth.clone(),
                    self.may_sign_in.clone(),
                );
                Ok(http.authorize(observer).into())
            }
            None => self.server.target(options).map_err(misconfigured),
        }
    }

    /// The program as a target, with its stderr going to the log of the server.
    fn program(&self) -> Option<Target> {
        match &self.server.launch {
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => {
                let command = target::command(program, arguments, environment, folder.as_deref());
                Some(command.stderr_log(&self.stderr).into())
            }
            Launch::Remote(_) => None,
        }
    }

    fn client(&self, inspector: &Arc<Inspector>) -> Client {
        let (id, passed) = (self.id.clone(), Arc::downgrade(inspector));
        let client = Client::new("turnbuckle", env!("CARGO_PKG_VERSION"))
            .deadline(inspector.options.deadline())
            .limits(target::limits())
            // Results of tools are shown unchanged; whether they satisfy the schema is shown beside them.
            .trust_output()
            .no_cache()
            // A useful default; the page can change it.
            .log_level(LoggingLevel::Info)
            .declare::<Ui>(&UiClient::default())
            .answering(answers(&self.id, inspector))
            .on_wire(move |passing| {
                let Some(inspector) = passed.upgrade() else {
                    return;
                };
                let row = inspector
                    .wire
                    .message(&id, passing.direction, passing.message);
                // Published here, in the order of messages: a call's log lines come before its result.
                if let Some(line) = LogLine::read(&row, passing.message) {
                    inspector.logged(&line);
                }
            });
        match (self.pin.revision, self.pin.era) {
            (Some(revision), _) => client.only(revision),
            (None, Some(EraName::Legacy)) => client.only_era(Era::Legacy),
            (None, Some(EraName::Modern)) => client.only_era(Era::Modern),
            (None, None) => client,
        }
    }

    /// Passes on what a program prints on stderr.
    async fn follow_stderr(&self, inspector: &Inspector) {
        let mut cursor = self.stderr.follow();
        while let Some(first) = cursor.next().await {
            let number = first.number;
            let mut lines = vec![first.text];
            while lines.len() < STDERR_BATCH
                && let Ok(Some(line)) = timeout(Duration::ZERO, cursor.next()).await
            {
                lines.push(line.text);
            }
            let told = json!({ "server": self.id, "number": number, "lines": lines });
            inspector.events.publish("stderr", &told);
            tokio::time::sleep(STDERR_PAUSE).await;
        }
    }

    /// Reports when the server cannot be reached, until the connection ends.
    async fn look_after(&self, inspector: &Arc<Inspector>, connection: &Connection) {
        let mut closed = pin!(connection.closed());
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        let mut was_down = false;
        let ending = loop {
            tokio::select! {
                ending = &mut closed => break ending,
                _ = looks.tick() => {
                    let is_down = connection.is_closed();
                    if std::mem::replace(&mut was_down, is_down) != is_down {
                        if !is_down {
                            renew_session(connection).await;
                        }
                        inspector.tell_of(&self.id);
                    }
                }
            }
        };
        inspector.change_server(&self.id, |entry| {
            let message = format!("the connection ended{ending}");
            entry.stage = Stage::Failed;
            entry.error = Some(Problem::new(Who::Transport, message).hint("connect again"));
        });
    }
}

/// A server that came back may have forgotten the session. A ping detects that and opens another session,
/// so that the next call does not fail because of it.
async fn renew_session(connection: &Connection) {
    if !connection.server().revision().is_modern() {
        let _ = timeout(RENEW_WITHIN, connection.ping()).await;
    }
}

impl Inspector {
    /// Called when the page is opened: connects to the servers that wait for it.
    pub(super) fn is_looked_at(self: &Arc<Self>) {
        let ids = std::mem::take(&mut *self.waiting.lock());
        for id in ids {
            self.connect(&id);
        }
    }

    /// Connects, or connects again if it was connected. Returns `None` if there is no such server.
    pub fn connect(self: &Arc<Self>, id: &str) -> Option<()> {
        self.connect_pinned(id, None)
    }

    pub(super) fn connect_pinned(self: &Arc<Self>, id: &str, pin: Option<Pin>) -> Option<()> {
        let mut state = self.lock();
        let entry = state.server(id)?;
        if entry.blocked.is_some() {
            return Some(());
        }
        let old = entry.take_connection();
        // Until now, the lists of the old connection could still be viewed.
        entry.offer = None;
        entry.stage = Stage::Connecting;
        entry.error = None;
        // Lines of the previous process do not belong to the new one.
        entry.stderr = StderrLog::default();
        entry.pin = pin.unwrap_or(entry.pin);
        let plan = Plan::of(entry);
        let work = tokio::spawn(plan.run(self.clone(), old));
        entry.work = Some(work.abort_handle());
        drop(state);
        self.tell_of(id);
        Some(())
    }
}

/// How the user signs in: the page shows the link.
pub(super) fn browser(tell: impl Fn(&str, &str) + Send + Sync + 'static) -> Loopback {
    Loopback::new()
        .without_opening()
        .announce(move |request| tell(request.issuer(), request.url()))
}

/// How often to check whether a server answers.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// How long a server that came back may take to answer a ping.
const RENEW_WITHIN: Duration = Duration::from_secs(5);

/// How many lines of stderr are published at once, and the pause between. A program that prints without end
/// must not keep the page from everything else.
const STDERR_BATCH: usize = 200;
const STDERR_PAUSE: Duration = Duration::from_millis(100);

/// Passes questions in sessions to the page. Exchanges handle the questions of modern servers themselves.
fn answers(id: &str, inspector: &Arc<Inspector>) -> Answers {
    let page = PageAnswers {
        server: id.to_owned(),
        inspector: Arc::downgrade(inspector),
    };
    let (forms, urls, samples) = (page.clone(), page.clone(), page);
    Answers::new()
        .on_form(move |asked| forms.ask("elicitation/create", asked))
        .on_url(move |asked| urls.ask("elicitation/create", asked))
        .on_sample_with_tools(move |asked| samples.ask("sampling/createMessage", asked))
        .roots(inspector.roots.clone())
}

/// The page as the receiver of a session's questions.
#[derive(Clone)]
struct PageAnswers {
    server: String,
    inspector: Weak<Inspector>,
}

impl PageAnswers {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "handlers are given the question for themselves"
    )]
    fn ask<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &'static str,
        asked: Asked<P>,
    ) -> impl Future<Output = Result<R, Refusal>> + Send + use<P, R> {
        let inspector = self.inspector.upgrade();
        let server = self.server.clone();
        let params = Raw::of(&asked.request);
        async move {
            let Some(inspector) = inspector else {
                return Err(Refusal::Declined);
            };
            let exchange = current::current().map(|current| current.0);
            let ask = Ask {
                id: String::new(),
                exchange: exchange.or_else(|| inspector.only_running(&server)),
                server,
                key: String::new(),
                method: method.to_owned(),
                params,
                round: 1,
                state_bytes: 0,
            };
            let is_form = method == "elicitation/create";
            match inspector.ask(ask).await {
                Reply::Result(result) => Ok(serde_json::from_str(result.get())?),
                Reply::Cancel if is_form => {
                    let cancelled = serde_json::to_string(&ElicitResult::cancel())?;
                    Ok(serde_json::from_str(&cancelled)?)
                }
                Reply::Decline | Reply::Cancel => Err(Refusal::Declined),
                Reply::Error(reason) => Err(Refusal::failed(reason)),
            }
        }
    }
}
