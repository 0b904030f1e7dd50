//! What the client should find at one of our small servers (`../typescript/peer.mjs` says what is there) with
//! the gateway between them.

use std::time::Duration;

use rmcp::model::{ClientRequest, Request, ServerNotification};
use rmcp::service::PeerRequestOptions;
use serde_json::json;

use crate::{
    Client,
    demo::{closed, holds, text},
    heard::value,
    report::{Checked, Report, same},
};

pub(crate) async fn check(report: &mut Report, client: Client) {
    let it = &client;
    let said = "Grüße, 世界 🌍\nsecond line";
    let tools = it.tool_names().await.unwrap_or_default();
    report
        .check("tools/list", async {
            holds(
                tools.iter().any(|name| name == "echo"),
                "there is no `echo`",
            )
        })
        .await;
    report
        .check(
            "tools/call echo",
            it.said("echo", json!({ "text": said }), said),
        )
        .await;
    report.check("tools/call fail", it.fails()).await;
    report.check("resources/list", it.readme_is_listed()).await;
    report.check("resources/read", it.reads()).await;
    report.check("prompts/get", it.greets()).await;
    report.check("progress", it.reports_of_slow()).await;
    if tools.iter().any(|name| name == "ask") {
        report
            .check("elicitation", it.said("ask", json!({}), "accept: Ada"))
            .await;
    }
    report
        .check("sampling", it.said("sample", json!({}), "Say hello."))
        .await;
    report
        .check("roots", it.said("places", json!({}), "file:///interop"))
        .await;
    report.check("list_changed", it.grows()).await;
    report.check("logging", it.logs()).await;
    report.check("cancellation", it.stops()).await;
    report.check("close", closed(client)).await;
}

#[allow(
    deprecated,
    reason = "what the newest revision leaves behind still has to work"
)]
impl Client {
    async fn tool_names(&self) -> Result<Vec<String>, String> {
        let tools = self.service.list_all_tools().await.map_err(text)?;
        Ok(tools.iter().map(|tool| tool.name.to_string()).collect())
    }

    async fn fails(&self) -> Checked {
        let result = self.call("fail", json!({})).await.map_err(text)?;
        same(&result["isError"].as_bool(), &Some(true))
    }

    async fn readme_is_listed(&self) -> Checked {
        let resources = self.service.list_all_resources().await.map_err(text)?;
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        same(&uris, &vec!["peer://readme"])
    }

    async fn reads(&self) -> Checked {
        same(&&*self.resource("peer://readme").await?, &"Read me.")?;
        same(
            &&*self.resource("peer://greeting/Ada").await?,
            &"Hello, Ada!",
        )
    }

    async fn greets(&self) -> Checked {
        let params = value(json!({ "name": "greet", "arguments": { "name": "Ada" } }));
        let result = self.service.get_prompt(params).await.map_err(text)?;
        let result = serde_json::to_value(result).unwrap_or_default();
        let said = &result["messages"][0]["content"]["text"];
        same(said, &json!("Greet Ada."))
    }

    async fn reports_of_slow(&self) -> Checked {
        let call = self.start_slow(20).await?;
        let token = call.progress_token.clone();
        call.await_response().await.map_err(text)?;
        holds(!self.reports(&token).is_empty(), "no report came")
    }

    async fn start_slow(
        &self,
        steps: u32,
    ) -> Result<rmcp::service::RequestHandle<rmcp::RoleClient>, String> {
        let params = value(json!({ "name": "slow", "arguments": { "steps": steps } }));
        let request = ClientRequest::CallToolRequest(Request::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self
            .service
            .send_cancellable_request(request, options)
            .await;
        sent.map_err(text)
    }

    async fn stops(&self) -> Checked {
        let call = self.start_slow(2000).await?;
        let token = call.progress_token.clone();
        while self.reports(&token).len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        call.cancel(Some("enough".to_owned())).await.map_err(text)?;
        loop {
            let stopped = self.call("stopped", json!({})).await.map_err(text)?;
            if stopped["content"][0]["text"] != "0" {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn grows(&self) -> Checked {
        let subscription = self.listen(json!({ "toolsListChanged": true })).await?;
        let mut tools = self.service.service().tools.subscribe();
        self.call("grow", json!({})).await.map_err(text)?;
        match subscription {
            Some(mut subscription) => match subscription.next().await.map_err(text)? {
                Some(ServerNotification::ToolListChangedNotification(_)) => Ok(()),
                other => Err(format!("it told {other:?}")),
            },
            None => tools.changed().await.map_err(text),
        }
    }

    async fn logs(&self) -> Checked {
        let mut params = json!({ "name": "log", "arguments": {} });
        params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "info" });
        self.service.call_tool(value(params)).await.map_err(text)?;
        let mut logs = self.service.service().logs.subscribe();
        let logs = logs.wait_for(|logs| !logs.is_empty()).await.map_err(text)?;
        same(&logs[0]["data"], &json!("careful"))
    }
}
