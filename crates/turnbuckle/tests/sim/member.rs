//! A client under simulation: it does one thing after another, and checks the results.

use std::{collections::BTreeMap, sync::Arc, sync::Mutex, time::Duration};

use serde_json::{Value, json};
use turnbuckle::{
    CallError, Client, Connection, Revision,
    client::{Change, Direction, Listen, Started, Target},
    protocol::{CreateMessageResult, ElicitResult, ElicitValue},
};
use turnbuckle_testing::sim::{Audit, Random, SimulationRun};

use crate::{club, ledger::Ledger};

/// How long a call may take.
const DEADLINE: Duration = Duration::from_mins(1);

/// How long an answer may take on a good network: less than the deadline, after which the client cancels.
const ANSWER: Duration = Duration::from_secs(30);

/// How long it may take until a member is served again after the network recovers.
const RECOVERY: Duration = Duration::from_mins(5);

/// How many runs in a thousand end by trying every tool, instead of one tool for each member.
const TRIES_EVERYTHING: u16 = 300;

/// Messages larger than this are answers of `big`, which need not be read.
const LARGE_BYTES: usize = 10_000;

/// The result of a call that was answered.
enum Outcome {
    Done,
    /// A question was refused, because it may have been another caller's.
    Refused,
}

/// A member: how it reaches the server, and what it expects.
#[derive(Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about how the member reaches its server"
)]
pub(crate) struct Member {
    pub(crate) run: SimulationRun,
    pub(crate) ledger: Ledger,
    /// The name that handlers know it by; behind a gateway this is the gateway's name.
    pub(crate) known_as: &'static str,
    pub(crate) number: u32,
    pub(crate) revision: Revision,
    /// Opens a connection to the server.
    pub(crate) reach: Arc<dyn Fn() -> Target + Send + Sync>,
    /// Whether it connects over a pipe, not to a URL.
    pub(crate) is_on_pipe: bool,
    /// Whether it connects directly to the one server.
    pub(crate) is_direct: bool,
    /// The server that it uses, by the scheme of its notes. Behind a gateway this is also the server's name.
    pub(crate) place: &'static str,
    /// The revision that decides which questions it can be asked: the older of its own and the server's.
    pub(crate) asked_in: Revision,
    /// Whether the handler of a call runs only once, even if it asks.
    pub(crate) runs_once: bool,
    /// Whether a question may be refused because it may belong to another caller: servers on pipes do not say
    /// which call a question belongs to. The following calls then run one at a time.
    pub(crate) may_be_refused: bool,
}

impl Member {
    fn audit(&self) -> Arc<Audit> {
        let audit = self.run.audit();
        Arc::new(if self.is_on_pipe {
            audit
        } else {
            audit.repeated_answers()
        })
    }

    fn client(&self, audit: &Arc<Audit>) -> Client {
        let audit = Arc::clone(audit);
        let (run, ledger) = (self.run.clone(), self.ledger.clone());
        let calls: Mutex<BTreeMap<String, u64>> = Mutex::default();
        let (asked, model) = (self.run.clone(), self.run.clone());
        let (number, known_as, is_direct) = (self.number, self.known_as, self.is_direct);
        let (forms, samples) = (self.ledger.clone(), self.ledger.clone());
        Client::new("member", "1.0.0")
            .only(self.revision)
            .deadline(DEADLINE)
            .on_wire(move |passing| {
                audit.see(&passing);
                if passing.message.len() > LARGE_BYTES {
                    return;
                }
                let Ok(message) = serde_json::from_slice::<Value>(passing.message) else {
                    return;
                };
                let mut calls = calls.lock().expect("nothing panics here");
                let id = message["id"].to_string();
                if passing.direction == Direction::Out {
                    let name = message["params"]["name"].as_str().unwrap_or_default();
                    let tool = name.rsplit("__").next().unwrap_or_default();
                    let call = message["params"]["arguments"]["call"].as_u64();
                    // Handlers that ask are dropped and run again, and tasks outlive their call.
                    if let (Some(call), "echo" | "wait" | "big" | "steps") = (call, tool) {
                        calls.insert(id, call);
                    }
                } else if message.get("method").is_none()
                    && let Some(call) = calls.get(&id)
                    && ledger.is_given_up(*call)
                    // A gateway or another replica may answer with an error for a server that crashed.
                    && (is_direct || message.get("result").is_some())
                {
                    run.problem(format_args!(
                        "call {call} is answered after it was cancelled"
                    ));
                }
            })
            .on_sample(move |ask| {
                let (run, ledger) = (model.clone(), samples.clone());
                async move {
                    let question = json!(ask.request.messages)[0]["content"]["text"].clone();
                    let question = question.as_str().unwrap_or_default();
                    let is_own = ledger.is_for(question, number);
                    if !is_own || !question.ends_with(&format!("of {known_as}")) {
                        run.problem(format_args!(
                            "the model of {known_as} is asked what others are"
                        ));
                    }
                    run.pause(Duration::from_secs(2)).await;
                    Ok(CreateMessageResult::new("model", number.to_string()))
                }
            })
            .on_form(move |ask| {
                let (run, ledger) = (asked.clone(), forms.clone());
                async move {
                    let question = &*ask.request.message;
                    let is_own = ledger.is_for(question, number);
                    if !is_own || !question.ends_with(&format!("of {known_as}")) {
                        run.problem(format_args!("{known_as} is asked what others are"));
                    }
                    run.pause(Duration::from_secs(2)).await;
                    let number = ElicitValue::from(i64::from(number));
                    Ok(ElicitResult::accept([("number", number)]))
                }
            })
    }

    /// Connects and leaves while the network fails.
    pub(crate) async fn spend_an_afternoon(&self) {
        let mut random = self.run.random();
        for _ in 0..=random.below(2) {
            let client = self.client(&self.audit());
            if let Ok(connection) = client.connect((self.reach)()).await {
                for _ in 0..=random.below(5) {
                    self.act(&connection, &mut random).await;
                }
                if random.chance(300) {
                    connection.close().await;
                }
            }
            self.run.pause(Duration::from_secs(3)).await;
        }
    }

    /// Checks that everything works again after the network has recovered.
    pub(crate) async fn recover(&self) {
        let work = async {
            let (connection, audit) = loop {
                let audit = self.audit();
                match self.client(&audit).connect((self.reach)()).await {
                    Ok(connection) => break (connection, audit),
                    Err(error) => self.run.note(format_args!("not yet: {error}")),
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            };
            // Some runs try every tool; the others try enough to see that every member is served.
            let tools = ["echo", "big", "steps", "sample", self.ask(), "job"];
            let mut random = self.run.random();
            if self.number == 0 && random.chance(TRIES_EVERYTHING) {
                for tool in tools {
                    self.succeed(&connection, tool).await;
                }
            } else {
                let tool: &&str = random.pick(&tools);
                self.succeed(&connection, tool).await;
            }
            self.hear(&connection).await;
            self.is_answered(&audit).await;
            connection.close().await;
        };
        if tokio::time::timeout(RECOVERY, work).await.is_err() {
            self.run
                .problem(format_args!("member {} is not served again", self.number));
        }
    }

    /// Checks that each request of both sides has its answer, including requests that no call waits for.
    async fn is_answered(&self, audit: &Audit) {
        // Subscriptions are ended in the background after the calls.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let last = tokio::time::Instant::now() + ANSWER;
        while audit.unanswered() > 0 && tokio::time::Instant::now() < last {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        audit.all_answered();
    }

    /// Calls a tool on a good network.
    async fn succeed(&self, connection: &Connection, tool: &str) {
        for _ in 0..10 {
            match self.call(connection, tool).await {
                Ok(Outcome::Done) => return,
                Ok(Outcome::Refused) => tokio::time::sleep(Duration::from_secs(5)).await,
                // The error of a gateway whose session with a server had ended: it has opened another.
                Err(error) if !self.is_direct && is_session_over(&error) => {}
                Err(error) => {
                    let revision = self.revision;
                    return self.run.problem(format_args!(
                        "{tool} ({revision}) fails on a good network: {error:?}"
                    ));
                }
            }
        }
        self.run
            .problem(format_args!("questions of {tool} are always refused"));
    }

    async fn act(&self, connection: &Connection, random: &mut Random) {
        match random.below(9) {
            0 => self.give_up(connection, random).await,
            1 => self.start_job(connection).await,
            2 => self.both(connection).await,
            number => {
                let tools = ["echo", "echo", "big", "steps", "sample", self.ask()];
                let at = usize::try_from(number - 3).expect("it is below six");
                // The network may break any call; answers that arrive are judged.
                let _ = self.call(connection, tools[at]).await;
            }
        }
    }

    /// The tool that asks the most questions that this revision supports.
    fn ask(&self) -> &'static str {
        if self.asked_in < Revision::V2025_06_18 {
            "sample"
        } else {
            "ask"
        }
    }

    /// The full name of a tool. A gateway puts the server's name before it.
    fn name_of(&self, tool: &str) -> String {
        if self.place == club::NOTES {
            tool.to_owned()
        } else {
            format!("{}__{tool}", self.place)
        }
    }

    /// Makes two calls at once, whose answers must not be exchanged.
    async fn both(&self, connection: &Connection) {
        let _ = tokio::join!(
            self.call(connection, "echo"),
            self.call(connection, "steps")
        );
    }

    /// Calls a tool, and judges the answer.
    async fn call(&self, connection: &Connection, tool: &str) -> Result<Outcome, CallError> {
        let call = self.ledger.next_call(self.number);
        let mut reports = 0;
        let output = connection
            .call(self.name_of(tool), json!({ "call": call }))
            .progress(|_| reports += 1)
            .await;
        let output = match output {
            Ok(output) => output.text(),
            Err(error) => {
                self.judge_error(tool, call, &error);
                return Err(error);
            }
        };
        let expected = match tool {
            "echo" => format!("{call} for {}", self.known_as),
            "big" => format!("{call} {}", "x".repeat(club::BIG)),
            "steps" => format!("{call} done"),
            "ask" => format!("{call}: {0} and {0}", self.number),
            "sample" => format!("{call} says {}", self.number),
            _ => format!("{call} is done"),
        };
        if self.may_be_refused && output.starts_with("the client did not answer") {
            self.run.note(format_args!("{tool} {call} is refused"));
            return Ok(Outcome::Refused);
        }
        if output != expected {
            let shown: String = output.chars().take(80).collect();
            self.run
                .problem(format_args!("{tool} {call} was answered with `{shown}`"));
        }
        if tool == "steps" && reports > club::STEPS {
            self.run
                .problem(format_args!("{call}: {reports} reports of {}", club::STEPS));
        }
        let begun = self.ledger.times_begun(call);
        if begun != 1 && !self.may_run_again(tool) {
            self.run.problem(format_args!(
                "the handler of {tool} {call} ran {begun} times"
            ));
        }
        Ok(Outcome::Done)
    }

    /// Whether the handler of a tool may run again for one call: in 2026-07-28 this is how handlers ask.
    fn may_run_again(&self, tool: &str) -> bool {
        !self.runs_once && matches!(tool, "ask" | "sample")
    }

    /// Checks an error: a call may be lost with its connection, and must not fail for another reason.
    fn judge_error(&self, tool: &str, call: u64, error: &CallError) {
        self.run
            .note(format_args!("{tool} {call} fails: {}", kind(error)));
        if let CallError::Malformed { .. } | CallError::OutputMismatch { .. } = error {
            self.run.problem(format_args!("{tool} {call}: {error}"));
        }
        if let CallError::Deadline { .. } = error
            && !self.run.network().may_stall()
        {
            self.run.problem(format_args!(
                "{tool} {call} ({}) is never answered, and no connection stalled",
                self.revision
            ));
        }
        if self.ledger.times_begun(call) > 1 && !self.may_run_again(tool) {
            self.run
                .problem(format_args!("the handler of {tool} {call} ran twice"));
        }
    }

    /// Calls a tool that never ends, and drops the call.
    async fn give_up(&self, connection: &Connection, random: &mut Random) {
        let call = self.ledger.next_call(self.number);
        let limit = random.time(Duration::from_millis(200));
        let calling = connection.call(self.name_of("wait"), json!({ "call": call }));
        if let Ok(Ok(_)) = tokio::time::timeout(limit, calling.into_future()).await {
            self.run.problem("a call that never ends has ended");
        }
    }

    /// Starts a task and follows it.
    async fn start_job(&self, connection: &Connection) {
        let call = self.ledger.next_call(self.number);
        let calling = connection.call(self.name_of("job"), json!({ "call": call }));
        let started = calling.task().await;
        let output = match started {
            Ok(started) => match started {
                Started::Task(mut task) => task.result().await,
                done @ Started::Done(_) => done.result().await,
            },
            Err(error) => Err(error),
        };
        match output {
            Ok(output) if output.text() == format!("{call} is done") => {}
            Ok(output) => {
                let text = output.text();
                self.run
                    .problem(format_args!("job {call} was answered with `{text}`"));
            }
            Err(error) => self.judge_error("job", call, &error),
        }
    }

    /// Checks that the member is notified when its own note changes, and not when another note does.
    async fn hear(&self, connection: &Connection) {
        let own = format!("{}://{}", self.place, self.known_as);
        let listen = Listen::new().resource(&own);
        let mut changes = match connection.listen(listen).await {
            Ok(changes) => changes,
            Err(error) => return self.run.problem(format_args!("cannot listen: {error:?}")),
        };
        if let Err(error) = connection.call(self.name_of("touch"), json!({})).await {
            return self.run.problem(format_args!("cannot touch: {error:?}"));
        }
        match changes.next().await {
            Some(Ok(Change::ResourceUpdated { uri, .. })) if *uri == *own => {}
            other => self
                .run
                .problem(format_args!("{} hears {other:?}", self.known_as)),
        }
    }
}

/// Whether a call failed because the session between a gateway and a server had ended.
fn is_session_over(error: &CallError) -> bool {
    let said = error.rejection().map(|error| error.message.as_str());
    said.is_some_and(|said| said.contains("repeat the call only if it may run twice"))
}

/// The kind of an error, without ids, which differ from run to run.
fn kind(error: &CallError) -> String {
    let text = format!("{error:?}");
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}
