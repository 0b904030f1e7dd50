//! What our client should find at `@modelcontextprotocol/server-everything`.

use serde_json::{Value, json};
use turnbuckle::{
    client::{CallError, Change, Connection, Listen, Started},
    protocol::{ContentBlock, LoggingLevel, Reference, ResourceContents},
};

use crate::{
    claim::holds,
    live::{heard, listening, logged},
    report::{Checked, Report, chain, same},
};

pub(crate) async fn check(report: &mut Report, server: &Connection) {
    report.check("tools/list", tools_list(server)).await;
    report.check("resources/list", resources_list(server)).await;
    report
        .check("resources/templates/list", templates_list(server))
        .await;
    report.check("prompts/list", prompts_list(server)).await;
    report.check("tools/call get-sum", sum(server)).await;
    report
        .check("tools/call get-tiny-image", image(server))
        .await;
    report
        .check("tools/call get-structured-content", structured(server))
        .await;
    report
        .check("tools/call get-resource-links", links(server))
        .await;
    report.check("resources/read", read(server)).await;
    report.check("prompts/get", prompts_get(server)).await;
    report.check("completion/complete", complete(server)).await;
    report.check("progress", progress(server)).await;
    report
        .check("a call that is dropped", cancellation(server))
        .await;
    report.check("sampling", sampling(server)).await;
    report.check("elicitation", elicitation(server)).await;
    report.check("elicitation by URL", visit(server)).await;
    report.check("roots", roots(server)).await;
    report.check("logging", logging(server)).await;
    report.check("list_changed", list_changed(server)).await;
    report.check("resources/subscribe", subscribe(server)).await;
    report.check("tasks/result", task(server)).await;
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn tools_list(server: &Connection) -> Checked {
    let tools = server.tools().await.map_err(text)?;
    holds(
        tools.iter().any(|tool| tool.name == "get-sum"),
        "there is no `get-sum`",
    )
}

async fn resources_list(server: &Connection) -> Checked {
    holds(
        !server.resources().await.map_err(text)?.is_empty(),
        "the list is empty",
    )
}

async fn templates_list(server: &Connection) -> Checked {
    holds(
        !server.resource_templates().await.map_err(text)?.is_empty(),
        "the list is empty",
    )
}

async fn prompts_list(server: &Connection) -> Checked {
    let prompts = server.prompts().await.map_err(text)?;
    holds(
        prompts.iter().any(|prompt| prompt.name == "args-prompt"),
        "there is no `args-prompt`",
    )
}

async fn sum(server: &Connection) -> Checked {
    let output = server
        .call("get-sum", json!({ "a": 2, "b": 40 }))
        .await
        .map_err(text)?;
    holds(output.text().contains("42"), &output.text())
}

async fn image(server: &Connection) -> Checked {
    let output = server
        .call("get-tiny-image", json!({}))
        .await
        .map_err(text)?;
    let has_image = output
        .content
        .iter()
        .any(|block| matches!(block, ContentBlock::Image(_)));
    holds(has_image, "there is no image in the result")
}

async fn structured(server: &Connection) -> Checked {
    let call = server.call("get-structured-content", json!({ "location": "Chicago" }));
    let weather: Value = call.await.map_err(text)?.parse().map_err(text)?;
    holds(weather["temperature"].is_number(), &weather.to_string())
}

async fn links(server: &Connection) -> Checked {
    let call = server.call("get-resource-links", json!({ "count": 3 }));
    let output = call.await.map_err(text)?;
    let is_link = |block: &&ContentBlock| matches!(block, ContentBlock::ResourceLink(_));
    same(&output.content.iter().filter(is_link).count(), &3)
}

async fn read(server: &Connection) -> Checked {
    let result = server
        .read("demo://resource/dynamic/text/1")
        .await
        .map_err(text)?;
    let is_text = matches!(result.contents.first(), Some(ResourceContents::Text(_)));
    holds(is_text, "the resource is no text")
}

async fn prompts_get(server: &Connection) -> Checked {
    let result = server
        .get("args-prompt", json!({ "city": "Oslo" }))
        .await
        .map_err(text)?;
    let message = result
        .messages
        .first()
        .and_then(|message| message.content.as_text());
    holds(
        message.is_some_and(|text| text.contains("Oslo")),
        "the argument is not in the prompt",
    )
}

async fn complete(server: &Connection) -> Checked {
    let reference = Reference::prompt("completable-prompt");
    let completion = server
        .complete(reference, "department", "E")
        .await
        .map_err(text)?;
    same(&completion.values, &vec!["Engineering".to_owned()])
}

async fn progress(server: &Connection) -> Checked {
    let mut count = 0;
    let call = server.call(
        "trigger-long-running-operation",
        json!({ "duration": 0.2, "steps": 4 }),
    );
    call.progress(|_| count += 1).await.map_err(text)?;
    same(&count, &4)
}

/// The server goes on, and nothing of the call comes after.
async fn cancellation(server: &Connection) -> Checked {
    let (send, mut first) = tokio::sync::mpsc::channel(1);
    let arguments = json!({ "duration": 20, "steps": 200 });
    let call = server
        .call("trigger-long-running-operation", arguments)
        .progress(move |_| {
            let _ = send.try_send(());
        });
    tokio::select! {
        output = call => return Err(format!("it gave {output:?}")),
        _ = first.recv() => {}
    }
    sum(server).await
}

/// It runs only as a task, for some seconds.
async fn task(server: &Connection) -> Checked {
    let call = server.call("simulate-research-query", json!({ "topic": "rope" }));
    let started = call.task().await.map_err(text)?;
    holds(matches!(started, Started::Task(_)), "it is no task")?;
    let output = started.result().await.map_err(text)?;
    holds(output.text().contains("rope"), "it is about something else")
}

async fn elicitation(server: &Connection) -> Checked {
    let output = server
        .call("trigger-elicitation-request", json!({}))
        .await
        .map_err(text)?;
    holds(output.text().contains("Name: Ada"), &output.text())
}

async fn visit(server: &Connection) -> Checked {
    let arguments = json!({ "url": "https://example.com/", "message": "Look." });
    let output = server
        .call("trigger-url-elicitation", arguments)
        .await
        .map_err(text)?;
    holds(output.text().contains("accept"), &output.text())
}

async fn roots(server: &Connection) -> Checked {
    let output = server
        .call("get-roots-list", json!({}))
        .await
        .map_err(text)?;
    holds(output.text().contains("file:///interop"), &output.text())
}

/// Every subscription is noted in the log.
async fn logging(server: &Connection) -> Checked {
    let mut logs = server.logs();
    server
        .set_log_level(LoggingLevel::Info)
        .await
        .map_err(text)?;
    let uri = "demo://resource/dynamic/text/2";
    let _changes = listening(server, Listen::new().resource(uri)).await?;
    let (_, said) = logged(&mut logs).await?;
    holds(said.contains(uri), &said)
}

/// A file that was packed is a new resource.
async fn list_changed(server: &Connection) -> Checked {
    let mut changes = listening(server, Listen::new().resources()).await?;
    let arguments = json!({ "name": "packed.gz", "data": "data:text/plain,hello" });
    let output = server
        .call("gzip-file-as-resource", arguments)
        .await
        .map_err(text)?;
    holds(!output.is_error(), &output.text())?;
    heard(&mut changes, |change| {
        matches!(change, Change::ResourcesChanged)
    })
    .await
}

async fn subscribe(server: &Connection) -> Checked {
    let wanted = "demo://resource/dynamic/text/1";
    let mut changes = listening(server, Listen::new().resource(wanted)).await?;
    server
        .call("toggle-subscriber-updates", json!({}))
        .await
        .map_err(text)?;
    heard(
        &mut changes,
        |change| matches!(change, Change::ResourceUpdated { uri, .. } if &**uri == wanted),
    )
    .await
}

async fn sampling(server: &Connection) -> Checked {
    let arguments = json!({ "prompt": "Say hello.", "maxTokens": 10 });
    let output = server
        .call("trigger-sampling-request", arguments)
        .await
        .map_err(text)?;
    holds(output.text().contains("Hello."), &output.text())
}
