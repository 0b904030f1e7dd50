//! What the client does in each scenario.

use std::error::Error;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use turnbuckle::{CallError, Connection, skills::SkillClient};

use crate::{Order, authorization};

pub(crate) type Ended = Result<(), Box<dyn Error>>;

pub(crate) async fn run(order: &Order, server: Connection) -> Ended {
    match order.scenario.as_str() {
        "tools_call" => tools_call(&server).await?,
        "elicitation-sep1034-client-defaults" => {
            call(&server, "test_client_elicitation_defaults").await?;
        }
        "sse-retry" => call(&server, "test_reconnection").await?,
        "sep-2322-client-request-state" => rounds(&server).await?,
        "http-standard-headers" => everything_once(&server).await?,
        "http-custom-headers" => calls(&server, &order.context).await?,
        "http-invalid-tool-headers" => surviving_tools(&server).await?,
        "json-schema-2020-12-preservation" => echo_schema(&server).await?,
        scenario if scenario.starts_with("sep-2640-") => skills(&server, scenario).await?,
        scenario if scenario.starts_with("auth/") => authorization::run(&server).await?,
        // Some of the suite's servers have no tools, and any request will do.
        _ => match server.tools().await {
            Ok(_) | Err(CallError::NotOffered { .. }) => {}
            Err(error) => return Err(error.into()),
        },
    }
    server.close().await;
    Ok(())
}

async fn call(server: &Connection, tool: &str) -> Ended {
    server.tools().await?;
    server.call(tool, ()).await?;
    Ok(())
}

async fn tools_call(server: &Connection) -> Ended {
    server.tools().await?;
    server.call("add_numbers", json!({"a": 5, "b": 3})).await?;
    Ok(())
}

async fn rounds(server: &Connection) -> Ended {
    server.tools().await?;
    for tool in [
        "test_mrtr_echo_state",
        "test_mrtr_no_state",
        "test_mrtr_unrelated",
        "test_mrtr_no_result_type",
    ] {
        server.call(tool, ()).await?;
    }
    Ok(())
}

async fn everything_once(server: &Connection) -> Ended {
    for tool in server.tools().await? {
        server.call(tool.name, json!({})).await?;
    }
    for resource in server.resources().await? {
        server.read(resource.uri).await?;
    }
    for prompt in server.prompts().await? {
        server.get(prompt.name, ()).await?;
    }
    Ok(())
}

async fn calls(server: &Connection, context: &Value) -> Ended {
    #[derive(Deserialize)]
    struct ToolCall {
        name: String,
        arguments: Map<String, Value>,
    }
    server.tools().await?;
    for call in Vec::<ToolCall>::deserialize(&context["toolCalls"])? {
        server.call(call.name, call.arguments).await?;
    }
    Ok(())
}

async fn surviving_tools(server: &Connection) -> Ended {
    for tool in server.tools().await? {
        server
            .call(tool.name, json!({"region": "us-west1"}))
            .await?;
    }
    Ok(())
}

/// Lists skills, and loads one where that is asked for: the suite falsifies it, and it must not be
/// taken.
async fn skills(server: &Connection, scenario: &str) -> Ended {
    let skills = SkillClient::of(server)?;
    let listed = skills.list().await?;
    if scenario != "sep-2640-client-no-prefetch" {
        for entry in &listed {
            let loaded = skills.load(entry).await?;
            loaded.read("references/FORMS.md").await?;
        }
    }
    Ok(())
}

async fn echo_schema(server: &Connection) -> Ended {
    let tools = server.tools().await?;
    let tool = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool")
        .ok_or("there is no `json_schema_2020_12_tool`")?;
    let schema = json!({"schema": tool.input_schema});
    server.call("json_schema_echo", schema).await?;
    Ok(())
}
