//! What the client should find at the demo server.

use std::{fmt::Display, time::Duration};

use rmcp::{
    model::{CallToolResponse, ClientRequest, ProgressToken, Request, ServerNotification},
    service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError, Subscription},
};
use serde_json::{Value, json};

use crate::{
    Client,
    heard::value,
    report::{Checked, Report, same},
};

pub(crate) async fn check(report: &mut Report, client: Client) {
    let it = &client;
    report.check("tools/list", it.tools_list()).await;
    report.check("tools/call echo", it.echo()).await;
    report.check("tools/call add", it.add()).await;
    report.check("tools/call everything", it.everything()).await;
    report.check("tools/call fail", it.fail()).await;
    report
        .check("tools/call crash", it.refused("crash", -32603))
        .await;
    report
        .check("tools/call of no tool", it.refused("nothing", -32602))
        .await;
    report.check("resources/list", it.resources_list()).await;
    report
        .check("resources/templates/list", it.templates_list())
        .await;
    report.check("resources/read text", it.read()).await;
    report
        .check("resources/read of nothing", it.read_nothing())
        .await;
    report.check("prompts/list", it.prompts_list()).await;
    report.check("prompts/get", it.prompts_get()).await;
    report.check("completion/complete", it.complete()).await;
    report.check("progress", it.progress()).await;
    report.check("cancellation", it.cancellation()).await;
    report.check("many calls at once", it.many_calls()).await;
    report
        .check(
            "elicitation",
            it.said("greet", json!({}), "A very good day to you, Ada."),
        )
        .await;
    report
        .check(
            "elicitation by URL",
            it.said("visit", json!({}), "The page may be opened."),
        )
        .await;
    report
        .check(
            "sampling",
            it.said("write", json!({ "about": "rope" }), "About rope. (interop)"),
        )
        .await;
    report
        .check("roots", it.said("roots", json!({}), "file:///interop"))
        .await;
    report.check("logging", it.logging()).await;
    report.check("list_changed", it.list_changed()).await;
    report.check("resources/subscribe", it.subscribe()).await;
    // The SDK has the extension of 2026-07-28, and no tasks of 2025-11-25.
    if it.is_modern() {
        report.check("tasks/result", it.task_result()).await;
        report.check("tasks/cancel", it.task_cancel()).await;
    }
    report.check("close", closed(client)).await;
}

pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}

/// The check fails unless the claim holds.
pub(crate) fn holds(claim: bool, what: impl Display) -> Checked {
    if claim { Ok(()) } else { Err(what.to_string()) }
}

pub(crate) async fn closed(client: Client) -> Checked {
    let start = std::time::Instant::now();
    client.service.cancel().await.map_err(text)?;
    holds(
        start.elapsed().as_secs() < 4,
        format!("closing took {:?}", start.elapsed()),
    )
}

#[allow(
    deprecated,
    reason = "what the newest revision leaves behind still has to work"
)]
impl Client {
    fn is_modern(&self) -> bool {
        &*self.revision >= "2026-07-28"
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ServiceError> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.service.call_tool(value(params)).await?;
        Ok(serde_json::to_value(result).unwrap_or_default())
    }

    pub(crate) async fn said(&self, tool: &str, arguments: Value, wanted: &str) -> Checked {
        let result = self.call(tool, arguments).await.map_err(text)?;
        same(&result["content"][0]["text"].as_str(), &Some(wanted))
    }

    async fn tools_list(&self) -> Checked {
        let tools = self.service.list_all_tools().await.map_err(text)?;
        let add = tools.iter().find(|tool| tool.name == "add");
        holds(
            add.is_some_and(|add| add.output_schema.is_some()),
            "there is no `add`",
        )
    }

    async fn echo(&self) -> Checked {
        let said = "Grüße, 世界 🌍\nsecond line";
        self.said("echo", json!({ "text": said }), said).await
    }

    async fn add(&self) -> Checked {
        let result = self
            .call("add", json!({ "a": 2, "b": 40 }))
            .await
            .map_err(text)?;
        same(&result["structuredContent"]["sum"].as_i64(), &Some(42))
    }

    async fn everything(&self) -> Checked {
        let result = self.call("everything", json!({})).await.map_err(text)?;
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<_> = blocks
            .iter()
            .filter_map(|block| block["type"].as_str())
            .collect();
        same(
            &kinds,
            &vec!["text", "image", "audio", "resource_link", "resource"],
        )
    }

    async fn fail(&self) -> Checked {
        let result = self
            .call("fail", json!({ "reason": "on purpose" }))
            .await
            .map_err(text)?;
        same(&result["isError"].as_bool(), &Some(true))
    }

    async fn refused(&self, tool: &str, code: i32) -> Checked {
        match self.call(tool, json!({})).await {
            Err(ServiceError::McpError(error)) => same(&error.code.0, &code),
            other => Err(format!("it gave {other:?}")),
        }
    }

    async fn resources_list(&self) -> Checked {
        let resources = self.service.list_all_resources().await.map_err(text)?;
        let mut uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        uris.sort_unstable();
        same(
            &uris,
            &vec!["demo://logo.png", "demo://readme", "demo://ticks"],
        )
    }

    async fn templates_list(&self) -> Checked {
        let templates = self
            .service
            .list_all_resource_templates()
            .await
            .map_err(text)?;
        let wanted = "demo://stations/{city}/{number}";
        holds(
            templates.iter().any(|it| it.uri_template == wanted),
            "the template is missing",
        )
    }

    pub(crate) async fn resource(&self, uri: &str) -> Result<String, String> {
        let params = value(json!({ "uri": uri }));
        let result = self.service.read_resource(params).await.map_err(text)?;
        let result = serde_json::to_value(result).unwrap_or_default();
        Ok(result["contents"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    async fn read(&self) -> Checked {
        let read = self.resource("demo://readme").await?;
        holds(read.starts_with("# Turnbuckle"), read)
    }

    async fn read_nothing(&self) -> Checked {
        let wanted = if self.is_modern() { -32602 } else { -32002 };
        match self
            .service
            .read_resource(value(json!({ "uri": "demo://nowhere" })))
            .await
        {
            Err(ServiceError::McpError(error)) => same(&error.code.0, &wanted),
            other => Err(format!("it gave {other:?}")),
        }
    }

    async fn prompts_list(&self) -> Checked {
        let prompts = self.service.list_all_prompts().await.map_err(text)?;
        holds(
            prompts.iter().any(|prompt| prompt.name == "review"),
            "there is no `review`",
        )
    }

    async fn prompts_get(&self) -> Checked {
        let arguments = json!({ "language": "rust", "code": "fn main() {}" });
        let params = value(json!({ "name": "review", "arguments": arguments }));
        let result = self.service.get_prompt(params).await.map_err(text)?;
        same(&result.messages.len(), &3)
    }

    async fn complete(&self) -> Checked {
        let prompt = self
            .service
            .complete_prompt_simple("review", "language", "r")
            .await;
        same(
            &prompt.map_err(text)?,
            &vec!["rust".to_owned(), "ruby".to_owned()],
        )
    }

    async fn count(&self, to: u32, pause: u32) -> Result<RequestHandle<RoleClient>, String> {
        let arguments = json!({ "to": to, "pause": pause });
        let params = value(json!({ "name": "count", "arguments": arguments }));
        let request = ClientRequest::CallToolRequest(Request::new(params));
        let options = PeerRequestOptions::no_options();
        self.service
            .send_cancellable_request(request, options)
            .await
            .map_err(text)
    }

    pub(crate) fn reports(&self, token: &ProgressToken) -> Vec<f64> {
        let Ok(reports) = self.service.service().reports.lock() else {
            return Vec::new();
        };
        let of_this = reports.iter().filter(|(of, _)| of == token);
        of_this.map(|(_, progress)| *progress).collect()
    }

    async fn progress(&self) -> Checked {
        let call = self.count(3, 200).await?;
        let token = call.progress_token.clone();
        call.await_response().await.map_err(text)?;
        // A report that arrives together with the result may be handled after it.
        same(
            &self.reports(&token).into_iter().take(2).collect(),
            &vec![1.0, 2.0],
        )
    }

    async fn cancellation(&self) -> Checked {
        let call = self.count(1000, 5).await?;
        let token = call.progress_token.clone();
        while self.reports(&token).len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        call.cancel(Some("enough".to_owned())).await.map_err(text)?;
        // Were the call still running, twenty reports would come during each of these calls.
        for _ in 0..5 {
            let before = self.reports(&token).len();
            self.call("count", json!({ "to": 5, "pause": 20 }))
                .await
                .map_err(text)?;
            if self.reports(&token).len() == before {
                return Ok(());
            }
        }
        Err("reports still come after the end".to_owned())
    }

    async fn many_calls(&self) -> Checked {
        let mut calls = Vec::new();
        for number in 0..50 {
            let peer = self.service.peer().clone();
            calls.push(tokio::spawn(async move {
                let arguments = json!({ "a": number, "b": 1 });
                let params = value(json!({ "name": "add", "arguments": arguments }));
                peer.call_tool_once(params).await
            }));
        }
        for (number, call) in (0_i64..).zip(calls) {
            let CallToolResponse::Complete(result) = call.await.map_err(text)?.map_err(text)?
            else {
                return Err("it asks".to_owned());
            };
            let result = serde_json::to_value(result).unwrap_or_default();
            same(
                &result["structuredContent"]["sum"].as_i64(),
                &Some(number + 1),
            )?;
        }
        Ok(())
    }

    async fn logging(&self) -> Checked {
        let mut params = json!({ "name": "log", "arguments": { "text": "careful" } });
        if self.is_modern() {
            params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "error" });
        } else {
            self.service
                .set_level(value(json!({ "level": "error" })))
                .await
                .map_err(text)?;
        }
        self.service.call_tool(value(params)).await.map_err(text)?;
        let mut logs = self.service.service().logs.subscribe();
        let logs = logs.wait_for(|logs| logs.len() == 4).await.map_err(text)?;
        let mut levels: Vec<_> = logs
            .iter()
            .filter_map(|message| message["level"].as_str())
            .collect();
        // The SDK handles each message in a task of its own, and keeps no order.
        levels.sort_unstable();
        same(&levels, &vec!["alert", "critical", "emergency", "error"])
    }

    pub(crate) async fn listen(
        &self,
        notifications: Value,
    ) -> Result<Option<Subscription>, String> {
        if !self.is_modern() {
            return Ok(None);
        }
        let listening = self.service.listen(value(notifications)).await;
        Ok(Some(listening.map_err(text)?))
    }

    async fn list_changed(&self) -> Checked {
        let subscription = self.listen(json!({ "toolsListChanged": true })).await?;
        let name = format!("sprout-{}", std::process::id());
        let mut tools = self.service.service().tools.subscribe();
        self.call("grow", json!({ "name": name }))
            .await
            .map_err(text)?;
        match subscription {
            Some(mut subscription) => match subscription.next().await.map_err(text)? {
                Some(ServerNotification::ToolListChangedNotification(_)) => {}
                other => return Err(format!("it told {other:?}")),
            },
            None => tools.changed().await.map_err(text)?,
        }
        self.call("shrink", json!({ "name": name }))
            .await
            .map_err(text)?;
        Ok(())
    }

    /// Starts a call that becomes a task, and gives its id.
    async fn start(&self, arguments: Value) -> Result<String, String> {
        let params = json!({ "name": "bake", "arguments": arguments });
        let response = self.service.call_tool_once(value(params)).await;
        match response.map_err(text)? {
            CallToolResponse::Task(created) => Ok(created.task.task_id),
            other => Err(format!("it is no task: {other:?}")),
        }
    }

    async fn task(&self, id: &str) -> Result<Value, String> {
        let params = value(json!({ "taskId": id }));
        let task = self.service.get_task(params).await.map_err(text)?;
        Ok(serde_json::to_value(task).unwrap_or_default())
    }

    async fn task_result(&self) -> Checked {
        let id = self.start(json!({ "what": "loaf", "time": 150 })).await?;
        same(&self.task(&id).await?["status"], &json!("working"))?;
        loop {
            let task = self.task(&id).await?;
            if task["status"] != "working" {
                same(&task["status"], &json!("completed"))?;
                let said = &task["result"]["content"][0]["text"];
                return same(said, &json!("one loaf, still warm"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn task_cancel(&self) -> Checked {
        let long = json!({ "what": "stone", "time": 600_000 });
        let id = self.start(long).await?;
        let params = value(json!({ "taskId": id }));
        self.service.cancel_task(params).await.map_err(text)?;
        // Cancelling is a wish, which the server may take a moment to grant.
        while self.task(&id).await?["status"] == "working" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        same(&self.task(&id).await?["status"], &json!("cancelled"))
    }

    async fn subscribe(&self) -> Checked {
        let uri = "demo://ticks";
        let subscription = self
            .listen(json!({ "resourceSubscriptions": [uri] }))
            .await?;
        if subscription.is_none() {
            self.service
                .subscribe(value(json!({ "uri": uri })))
                .await
                .map_err(text)?;
        }
        let tick = self.call("tick", json!({})).await.map_err(text)?;
        match subscription {
            Some(mut subscription) => match subscription.next().await.map_err(text)? {
                Some(ServerNotification::ResourceUpdatedNotification(_)) => {}
                other => return Err(format!("it told {other:?}")),
            },
            None => {
                let mut updated = self.service.service().updated.subscribe();
                let is_it = |all: &Vec<String>| all.iter().any(|updated| updated == uri);
                updated.wait_for(is_it).await.map_err(text)?;
            }
        }
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        let tick = number(tick["content"][0]["text"].as_str().unwrap_or_default());
        // Over HTTP others tick at the same server.
        holds(
            tick > 0 && number(&self.resource(uri).await?) >= tick,
            "it is another number",
        )
    }
}
