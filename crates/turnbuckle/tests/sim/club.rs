//! The server under simulation: one tool for each thing that can happen in a call.

use serde_json::json;
use turnbuckle::{
    Ask, Caller, Changes, Form, Progress, Resource, Server, State, TaskSettings, Tool, ToolError,
    protocol::{CreateMessageRequestParams, SamplingMessage},
    tool,
};
use turnbuckle_server::MemoryBudget;

use crate::ledger::Ledger;

/// The number of steps of the tool `steps`.
pub(crate) const STEPS: u32 = 5;

/// Bytes of the largest answer: more than a connection buffers, so that the writer has to wait for its reader.
pub(crate) const BIG: usize = 70_000;

/// The memory that the server may use for requests, in bytes: much less than by default.
const BUDGET: usize = 4_000_000;

/// The caller's name, as handlers see it.
fn name_of(caller: &Caller) -> String {
    caller.id().unwrap_or("somebody").to_owned()
}

/// Says who called.
#[tool]
async fn echo(State(ledger): State<Ledger>, #[extract] caller: Caller, call: u64) -> String {
    let running = ledger.begin(call);
    ledger.work().await;
    running.finish();
    format!("{call} for {}", name_of(&caller))
}

/// Never ends.
#[tool]
async fn wait(State(ledger): State<Ledger>, call: u64) -> String {
    let running = ledger.begin(call);
    std::future::pending::<()>().await;
    running.finish();
    String::new()
}

/// Says much.
#[tool]
async fn big(State(ledger): State<Ledger>, call: u64) -> String {
    let running = ledger.begin(call);
    ledger.work().await;
    running.finish();
    format!("{call} {}", "x".repeat(BIG))
}

/// Reports progress.
#[tool]
async fn steps(State(ledger): State<Ledger>, #[extract] progress: Progress, call: u64) -> String {
    let running = ledger.begin(call);
    for step in 1..=STEPS {
        ledger.work().await;
        progress.of(step, STEPS).say(call.to_string()).await;
    }
    running.finish();
    format!("{call} done")
}

/// What is asked.
#[derive(Form)]
struct Badge {
    /// The number on it.
    number: u32,
}

/// Asks twice.
#[tool]
async fn ask(
    State(ledger): State<Ledger>,
    #[extract] caller: Caller,
    Ask(ask): Ask,
    call: u64,
) -> Result<String, ToolError> {
    let running = ledger.begin(call);
    ledger.work().await;
    let question = format!("{call} of {}", name_of(&caller));
    let one = ask
        .form::<Badge>("one", question.clone())
        .await?
        .accepted()?;
    let other = ask.form::<Badge>("other", question).await?.accepted()?;
    running.finish();
    Ok(format!("{call}: {} and {}", one.number, other.number))
}

/// Asks the client's model.
#[tool]
async fn sample(
    State(ledger): State<Ledger>,
    #[extract] caller: Caller,
    Ask(ask): Ask,
    call: u64,
) -> Result<String, ToolError> {
    let running = ledger.begin(call);
    let question = SamplingMessage::user(format!("{call} of {}", name_of(&caller)));
    let request = CreateMessageRequestParams::new(vec![question], 100);
    let said = ask.sample("model", request).await?.text();
    running.finish();
    Ok(format!("{call} says {said}"))
}

/// Works for a while, as a task if the client likes.
#[tool(task)]
async fn job(State(ledger): State<Ledger>, call: u64) -> String {
    let running = ledger.begin(call);
    for _ in 0..20 {
        ledger.work().await;
    }
    running.finish();
    format!("{call} is done")
}

/// The scheme of the URIs of a server's notes.
#[derive(Clone, Copy)]
struct Place(&'static str);

/// Changes the note of its caller.
#[tool]
async fn touch(
    State(place): State<Place>,
    #[extract] caller: Caller,
    #[extract] changes: Changes,
) -> &'static str {
    changes.resource(format!("{}://{}", place.0, name_of(&caller)));
    "touched"
}

/// The names of the callers that have a note.
pub(crate) const NAMES: [&str; 4] = ["ada", "bob", "cyd", "somebody"];

/// The scheme of the notes if there is one server.
pub(crate) const NOTES: &str = "note";

/// The server.
pub(crate) fn server(ledger: &Ledger) -> Server {
    server_at(ledger, NOTES)
}

/// A server whose notes have URIs with this scheme.
pub(crate) fn server_at(ledger: &Ledger, place: &'static str) -> Server {
    let server = Server::new("club", "1.0.0")
        .secret(&[7; 32])
        .state(ledger.clone())
        .state(Place(place))
        .tasks(TaskSettings::default().poll_interval(std::time::Duration::from_millis(200)))
        .memory_budget(MemoryBudget::default().with_total(BUDGET))
        .tool(echo)
        .tool(wait)
        .tool(big)
        .tool(steps)
        .tool(ask)
        .tool(sample)
        .tool(job)
        .tool(touch)
        .tool(Tool::new("plain", async || json!({ "is": "plain" })));
    NAMES.iter().fold(server, |server, name| {
        server.resource(Resource::new(
            format!("{place}://{name}"),
            async || "a note",
        ))
    })
}
