//! What our client should find at the small server that we have in each SDK.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::{
    client::{CallError, Connection},
    protocol::{Reference, ResourceContents, Revision},
};

use crate::{
    live,
    report::{Checked, Report, chain, same},
    tasks,
};

/// Whether the server can reach its client other than by answering.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It asks and tells.
    BothWays,
    /// It only answers.
    OneWay,
}

pub(crate) async fn check(report: &mut Report, server: &Connection, reach: Reach) {
    let tools = tools(server).await.unwrap_or_default();
    report
        .check("tools/list", async { all_listed(&tools) })
        .await;
    report.check("resources/list", resources_list(server)).await;
    report
        .check("resources/templates/list", templates_list(server))
        .await;
    report.check("prompts/list", prompts_list(server)).await;
    report.check("tools/call echo", echo(server)).await;
    report.check("tools/call add", add(server)).await;
    report.check("tools/call fail", fail(server)).await;
    report.check("tools/call of no tool", no_tool(server)).await;
    report.check("resources/read", read(server)).await;
    report
        .check("resources/read of nothing", read_nothing(server))
        .await;
    report.check("prompts/get", prompts_get(server)).await;
    if offers_completion(server) {
        report.check("completion/complete", complete(server)).await;
    }
    check_progress(report, server).await;
    // It is new in 2025-11-25, and only over HTTP.
    let revision = server.server().revision();
    if revision >= Revision::V2025_11_25 && tools.iter().any(|listed| listed == "hide") {
        report.check("a stream that ends", hide(server)).await;
    }
    report.check("many calls at once", many_calls(server)).await;
    if reach == Reach::BothWays {
        check_asks(report, server, &tools).await;
        live::check(report, server, &tools).await;
        tasks::check(report, server, &tools).await;
    }
    // Some servers do not survive it, so it comes last.
    report.check("cancellation", cancellation(server)).await;
    report.check("deadline", deadline(server)).await;
}

async fn check_asks(report: &mut Report, server: &Connection, tools: &[String]) {
    let has_forms = server.server().revision() >= Revision::V2025_06_18;
    let asks = [
        ("ask", "elicitation", "accept: Ada"),
        ("sample", "sampling", "Hello."),
        ("places", "roots", "file:///interop"),
    ];
    for (tool, name, answer) in asks {
        // Servers of older revisions have no forms to ask with.
        if tools.iter().any(|listed| listed == tool) && (tool != "ask" || has_forms) {
            report.check(name, ask(server, tool, answer)).await;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn tools(server: &Connection) -> Result<Vec<String>, CallError> {
    Ok(server
        .tools()
        .await?
        .into_iter()
        .map(|tool| tool.name)
        .collect())
}

fn all_listed(tools: &[String]) -> Checked {
    for name in ["echo", "add", "fail", "slow", "sample", "places", "grow"] {
        if !tools.iter().any(|tool| tool == name) {
            return Err(format!("there is no `{name}` among {tools:?}"));
        }
    }
    Ok(())
}

async fn resources_list(server: &Connection) -> Checked {
    let resources = server.resources().await.map_err(text)?;
    same(
        &resources
            .iter()
            .map(|resource| &*resource.uri)
            .collect::<Vec<_>>(),
        &vec!["peer://readme"],
    )
}

async fn templates_list(server: &Connection) -> Checked {
    let templates = server.resource_templates().await.map_err(text)?;
    let templates: Vec<_> = templates
        .iter()
        .map(|template| &*template.uri_template)
        .collect();
    same(&templates, &vec!["peer://greeting/{name}"])
}

async fn prompts_list(server: &Connection) -> Checked {
    let prompts = server.prompts().await.map_err(text)?;
    same(
        &prompts
            .iter()
            .map(|prompt| &*prompt.name)
            .collect::<Vec<_>>(),
        &vec!["greet"],
    )
}

async fn echo(server: &Connection) -> Checked {
    let said = "Grüße, 世界 🌍\nsecond line";
    let output = server
        .call("echo", json!({ "text": said }))
        .await
        .map_err(text)?;
    same(&output.text().as_str(), &said)
}

async fn add(server: &Connection) -> Checked {
    let output = server
        .call("add", json!({ "a": 2, "b": 40 }))
        .await
        .map_err(text)?;
    // Structured where the revision has that, the same as text where it does not.
    let value: Value = output.parse().map_err(text)?;
    let sum = value["sum"].as_f64();
    // mcp 1.9 writes the value of a model by its fields: `sum=42.0`.
    same(
        &sum.or_else(|| value.as_str()?.strip_prefix("sum=")?.parse().ok()),
        &Some(42.0),
    )
}

async fn fail(server: &Connection) -> Checked {
    let output = server.call("fail", json!({})).await.map_err(text)?;
    match output.parse::<Value>() {
        Err(CallError::ToolFailed { text, .. }) if text.contains("on purpose") => Ok(()),
        other => Err(format!("it gave {other:?}")),
    }
}

/// Some SDKs answer with an error, some with a failed result.
async fn no_tool(server: &Connection) -> Checked {
    match server.call("nothing", json!({})).await {
        Err(CallError::Rejected { .. }) => Ok(()),
        Ok(output) if output.is_error() => Ok(()),
        other => Err(format!("it gave {other:?}")),
    }
}

async fn read(server: &Connection) -> Checked {
    for (uri, wanted) in [
        ("peer://readme", "Read me."),
        ("peer://greeting/Ada", "Hello, Ada!"),
    ] {
        let result = server.read(uri).await.map_err(text)?;
        match result.contents.first() {
            Some(ResourceContents::Text(contents)) => same(&&*contents.text, &wanted)?,
            other => return Err(format!("it gave {other:?}")),
        }
    }
    Ok(())
}

async fn read_nothing(server: &Connection) -> Checked {
    match server.read("peer://nowhere").await {
        Err(CallError::Rejected { .. }) => Ok(()),
        other => Err(format!("it gave {other:?}")),
    }
}

async fn prompts_get(server: &Connection) -> Checked {
    let result = server
        .get("greet", json!({ "name": "Ada" }))
        .await
        .map_err(text)?;
    let message = result
        .messages
        .first()
        .and_then(|message| message.content.as_text());
    same(&message, &Some("Greet Ada."))
}

/// 2024-11-05 has no word for it, so there one can only try.
fn offers_completion(server: &Connection) -> bool {
    let server = server.server();
    server.revision() == Revision::V2024_11_05
        || server
            .capabilities()
            .is_some_and(|offered| offered.completions.is_some())
}

async fn complete(server: &Connection) -> Checked {
    let completion = server
        .complete(Reference::prompt("greet"), "name", "al")
        .await;
    same(&completion.map_err(text)?.values, &vec!["alan".to_owned()])
}

/// That reports come, and that they come before the answer: some servers send them by another stream.
async fn check_progress(report: &mut Report, server: &Connection) {
    const STEPS: u32 = 5;
    // The steps are far enough apart for the first to be there by the end.
    const SURE: usize = 3;
    let wanted: Vec<f64> = (1..=STEPS).map(f64::from).collect();
    let mut seen = Vec::new();
    let first = async {
        let call = server.call("slow", json!({ "steps": STEPS }));
        let call = call.progress(|report| seen.push(report.progress));
        same(&call.await.map_err(text)?.text().as_str(), &"done")?;
        let is_in_order = wanted.starts_with(&seen) && seen.len() >= SURE;
        is_in_order
            .then_some(())
            .ok_or_else(|| format!("it is {seen:?}"))
    };
    report.check("progress", first).await;
    let all = async { same(&seen, &wanted) };
    report.check("progress before the answer", all).await;
}

/// The server closes the stream of a call, and goes on when the client comes back.
async fn hide(server: &Connection) -> Checked {
    let mut seen = Vec::new();
    let call = server.call("hide", json!({}));
    let output = call
        .progress(|report| seen.push(report.progress))
        .await
        .map_err(text)?;
    same(&output.text().as_str(), &"done")?;
    same(&seen, &(1..=10).map(f64::from).collect())
}

/// A call that is dropped is stopped at the server.
async fn cancellation(server: &Connection) -> Checked {
    let (send, mut first) = tokio::sync::mpsc::channel(1);
    let call = server
        .call("slow", json!({ "steps": 1000 }))
        .progress(move |_| {
            let _ = send.try_send(());
        });
    tokio::select! {
        output = call => return Err(format!("it gave {output:?}")),
        _ = first.recv() => {}
    }
    stopped(server, 1).await
}

/// A call that is late is stopped as well.
async fn deadline(server: &Connection) -> Checked {
    let call = server
        .call("slow", json!({ "steps": 1000 }))
        .deadline(Duration::from_millis(300));
    match call.await {
        Err(CallError::Deadline { .. }) => stopped(server, 2).await,
        other => Err(format!("it gave {other:?}")),
    }
}

/// Waits until the server has stopped so many calls.
async fn stopped(server: &Connection, count: usize) -> Checked {
    loop {
        let output = server.call("stopped", json!({})).await.map_err(text)?;
        if output.text() == count.to_string() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn many_calls(server: &Connection) -> Checked {
    let calls = (0..50).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            let said = number.to_string();
            let output = server
                .call("echo", json!({ "text": said }))
                .await
                .map_err(text)?;
            same(&output.text(), &said)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

async fn ask(server: &Connection, tool: &str, answer: &str) -> Checked {
    let output = server.call(tool, json!({})).await.map_err(text)?;
    same(&output.text().as_str(), &answer)
}
