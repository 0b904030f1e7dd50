//! What our client should find at `@modelcontextprotocol/server-everything`.

use serde_json::{Value, json};
use turnbuckle::{
    client::{CallError, Connection},
    protocol::{ContentBlock, Reference, ResourceContents},
};

use crate::report::{Checked, Report, chain, same};

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
    report.check("sampling", sampling(server)).await;
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

fn holds(claim: bool, what: &str) -> Checked {
    if claim { Ok(()) } else { Err(what.to_owned()) }
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

async fn sampling(server: &Connection) -> Checked {
    let arguments = json!({ "prompt": "Say hello.", "maxTokens": 10 });
    let output = server
        .call("trigger-sampling-request", arguments)
        .await
        .map_err(text)?;
    holds(output.text().contains("Hello."), &output.text())
}
