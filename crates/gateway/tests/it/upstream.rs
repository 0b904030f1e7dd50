//! The server behind the gateway, with one tool for each thing that can happen in a call.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::Notify;
use turnbuckle_protocol::{CreateMessageRequestParams, SamplingMessage};
use turnbuckle_server::{
    Answer, Ask, AskFailed, Catalog, Changes, Log, Progress, Prompt, RawArgs, Resource, Server,
    Tool, ToolError, Visit,
};

/// How many of the two URLs that `visit_first` requires the user has visited.
pub(crate) static VISITED: AtomicUsize = AtomicUsize::new(0);

/// How often the tools that count their runs have begun.
pub(crate) static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Notified when a waiting call is given up.
pub(crate) static GIVEN_UP: Notify = Notify::const_new();

/// Notified when the waiting call has begun.
pub(crate) static WAITING: Notify = Notify::const_new();

fn said<T>(answer: &Answer<T>) -> &'static str {
    match answer {
        Answer::Accepted(_) => "accepted",
        Answer::Declined => "declined",
        Answer::Cancelled => "cancelled",
    }
}

async fn form(Ask(ask): Ask) -> Result<String, AskFailed> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    Ok(said(&ask.form::<()>("sure", "Are you sure?").await?).to_owned())
}

async fn joined(Ask(ask): Ask) -> Result<String, AskFailed> {
    let (one, other) = tokio::join!(
        ask.form::<()>("one", "One?"),
        ask.form::<()>("other", "Other?")
    );
    Ok(format!("{} and {}", said(&one?), said(&other?)))
}

async fn twice(Ask(ask): Ask) -> Result<String, AskFailed> {
    let one = ask.form::<()>("one", "First?").await?;
    let other = ask.form::<()>("other", "Second?").await?;
    Ok(format!("{} and {}", said(&one), said(&other)))
}

async fn visit(Ask(ask): Ask) -> Result<String, AskFailed> {
    let visited = ask
        .url("pay", "Please pay.", "https://shop.example/pay")
        .await?;
    Ok(said(&visited).to_owned())
}

async fn visit_first(Ask(ask): Ask) -> Result<String, AskFailed> {
    let url = match VISITED.load(Ordering::SeqCst) {
        0 => "https://shop.example/login",
        1 => "https://shop.example/terms",
        _ => return Ok("visited".to_owned()),
    };
    let visit = Visit::new("Please go there.", url).first();
    Ok(said(&ask.visit("page", visit).await?).to_owned())
}

async fn sample(Ask(ask): Ask) -> Result<String, AskFailed> {
    let request = CreateMessageRequestParams::new(vec![SamplingMessage::user("Capital?")], 100);
    Ok(ask.sample("capital", request).await?.text())
}

async fn roots(Ask(ask): Ask) -> Result<String, AskFailed> {
    let roots = ask.roots("roots").await?;
    let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
    Ok(uris.join(" "))
}

async fn steps(progress: Progress, log: Log) -> &'static str {
    progress
        .report(1.0, Some(2.0), Some("half".to_owned()))
        .await;
    log.debug("too mild");
    log.warning(json!({ "n": 1 }));
    progress.report(2.0, Some(2.0), None).await;
    "done"
}

/// Reports on drop that the call was given up.
struct GivenUp;

impl Drop for GivenUp {
    fn drop(&mut self) {
        GIVEN_UP.notify_one();
    }
}

async fn wait() -> &'static str {
    let _told = GivenUp;
    WAITING.notify_one();
    std::future::pending().await
}

async fn touch(changes: Changes) -> &'static str {
    changes.resource("note://one");
    "touched"
}

async fn retitle(RawArgs(arguments): RawArgs, changes: Changes) -> Result<&'static str, ToolError> {
    let said = arguments.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
    let updated = serde_json::from_str(&said);
    changes.updated(updated.map_err(|error| ToolError::new(error.to_string()))?);
    Ok("told")
}

async fn grow(catalog: Catalog) -> Result<&'static str, ToolError> {
    catalog
        .add_tool(Tool::new("grown", async || "new"))
        .map_err(|error| ToolError::new(error.to_string()))?;
    Ok("grown")
}

async fn echo(RawArgs(arguments): RawArgs) -> String {
    arguments.map_or_else(String::new, |raw| raw.get().to_owned())
}

async fn quick_job() -> &'static str {
    "the job is done"
}

async fn job() -> &'static str {
    // Long enough for a server to create a task for it, whichever way it decides.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    "the job is done"
}

async fn job_asks(Ask(ask): Ask) -> Result<String, AskFailed> {
    Ok(said(&ask.form::<()>("sure", "Are you sure?").await?).to_owned())
}

/// The server under test.
pub(crate) fn server() -> Server {
    Server::new("upstream", "1.0.0")
        .instructions("Be careful.")
        .tool(Tool::new("echo", echo).read_only())
        .tool(Tool::new("form", form))
        .tool(Tool::new("joined", joined))
        .tool(Tool::new("twice", twice))
        .tool(Tool::new("visit", visit))
        .tool(Tool::new("visit_first", visit_first))
        .tool(Tool::new("sample", sample))
        .tool(Tool::new("roots", roots))
        .tool(Tool::new("steps", steps))
        .tool(Tool::new("wait", wait))
        .tool(Tool::new("touch", touch))
        .tool(Tool::new("retitle", retitle))
        .tool(Tool::new("grow", grow))
        .tool(Tool::new("job", job).task())
        .tool(Tool::new("quick_job", quick_job).task())
        .tool(Tool::new("job_asks", job_asks).task())
        .prompt(Prompt::new("greet", async || "Hello."))
        .resource(Resource::new("note://one", async || "first note"))
}
