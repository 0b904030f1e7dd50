//! A server built on rmcp, for our client: the same as ../typescript/peer.mjs says.
//!
//! ```text
//! rmcp-server stdio|http
//! ```

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, RoleServer, SubscriptionContext},
    task_manager::{TaskExit, TaskManager, TaskOptions},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// Something that listeners are told.
#[derive(Clone, Copy)]
enum Change {
    Tools,
    Readme,
}

/// What all connections share.
#[derive(Clone)]
struct Server {
    stopped: Arc<AtomicU32>,
    changes: broadcast::Sender<Change>,
    /// Listeners that the SDK has acknowledged, and not yet given to `listen`.
    waiting: Arc<Mutex<Vec<broadcast::Receiver<Change>>>>,
    tasks: TaskManager,
}

type Failure = ErrorData;

/// A value of the SDK from its JSON.
fn value<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the JSON in this file fits the SDK's types")
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn tools() -> Vec<Value> {
    let object = |properties: Value| {
        let required: Vec<_> = properties
            .as_object()
            .into_iter()
            .flat_map(|it| it.keys())
            .collect();
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let plain =
        |name: &str| json!({ "name": name, "description": name, "inputSchema": object(json!({})) });
    let mut tools: Vec<_> = [
        "fail", "stopped", "ask", "sample", "places", "grow", "log", "touch",
    ]
    .map(plain)
    .into();
    let number = json!({ "type": "number" });
    tools.extend([
        json!({ "name": "echo", "inputSchema": object(json!({ "text": { "type": "string" } })) }),
        json!({ "name": "slow", "inputSchema": object(json!({ "steps": { "type": "integer" } })) }),
        json!({ "name": "brew", "inputSchema": object(json!({ "time": { "type": "integer" } })) }),
        json!({
            "name": "add",
            "inputSchema": object(json!({ "a": number, "b": number })),
            "outputSchema": object(json!({ "sum": number })),
        }),
    ]);
    tools
}

/// What is asked, by the name of the tool that asks.
fn question(tool: &str) -> InputRequest {
    match tool {
        "ask" => value(json!({
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Who are you?",
                "requestedSchema": {
                    "type": "object",
                    "properties": { "name": { "type": "string" } },
                    "required": ["name"],
                },
            },
        })),
        "sample" => value(json!({
            "method": "sampling/createMessage",
            "params": {
                "messages": [{ "role": "user", "content": { "type": "text", "text": "Say hello." } }],
                "maxTokens": 10,
            },
        })),
        _ => value(json!({ "method": "roots/list" })),
    }
}

/// What a tool makes of the answer.
fn use_answer(tool: &str, answer: &Value) -> CallToolResponse {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    said(match tool {
        "ask" => format!(
            "{}: {}",
            words(&answer["action"]),
            words(&answer["content"]["name"])
        ),
        "sample" => words(&answer["content"]["text"]),
        _ => words(&answer["roots"][0]["uri"]),
    })
}

#[allow(
    deprecated,
    reason = "what the newest revision leaves behind still has to work"
)]
impl Server {
    async fn asking(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let tool = &*request.name;
        if is_modern(&context) {
            if let Some(answer) = request
                .input_responses
                .as_ref()
                .and_then(|all| all.get("it"))
            {
                return Ok(use_answer(tool, answer));
            }
            let mut requests = InputRequests::new();
            requests.insert("it".to_owned(), question(tool));
            return Ok(InputRequiredResult::new(Some(requests), None).into());
        }
        let failed = |error: rmcp::ServiceError| Failure::internal_error(error.to_string(), None);
        let answer = match question(tool) {
            InputRequest::Elicitation(it) => {
                let answer = context
                    .peer
                    .create_elicitation(it.params)
                    .await
                    .map_err(failed)?;
                serde_json::to_value(answer)
            }
            InputRequest::CreateMessage(it) => {
                let answer = context
                    .peer
                    .create_message(it.params)
                    .await
                    .map_err(failed)?;
                serde_json::to_value(answer)
            }
            _ => serde_json::to_value(context.peer.list_roots().await.map_err(failed)?),
        };
        Ok(use_answer(tool, &answer.unwrap_or_default()))
    }

    /// As a task, where the client knows tasks.
    async fn brew(&self, time: Duration, context: &RequestContext<RoleServer>) -> CallToolResponse {
        let declared = context.client_capabilities();
        if !declared.is_some_and(|client| client.supports_tasks()) {
            tokio::time::sleep(time).await;
            return said("brewed");
        }
        let options = TaskOptions::new().with_poll_interval_ms(20);
        let task = self.tasks.spawn(options, |task| {
            Box::pin(async move {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = task.cancelled() => return Err(TaskExit::Cancelled),
                }
                Ok(CallToolResult::success(vec![ContentBlock::text("brewed")]))
            })
        });
        CallToolResponse::Task(CreateTaskResult::new(task))
    }

    async fn slow(&self, steps: u32, context: RequestContext<RoleServer>) -> CallToolResponse {
        for step in 1..=steps {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
                () = context.ct.cancelled() => {
                    self.stopped.fetch_add(1, Ordering::Relaxed);
                    return said("stopped");
                }
            }
            if let Some(token) = context.meta.get_progress_token() {
                let report = ProgressNotificationParam::new(token, f64::from(step));
                let _ = context
                    .peer
                    .notify_progress(report.with_total(f64::from(steps)))
                    .await;
            }
        }
        said("done")
    }
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= "2026-07-28")
}

#[allow(
    deprecated,
    reason = "what the newest revision leaves behind still has to work"
)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "tools": { "listChanged": true },
            "resources": { "subscribe": true },
            "prompts": {},
            "completions": {},
            "logging": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        ServerConfig::new(value(capabilities))
            .with_server_info(Implementation::new("peer", "3.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, Failure> {
        Ok(value(json!({ "tools": tools() })))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let number = |name: &str| arguments[name].as_f64().unwrap_or_default();
        Ok(match &*request.name {
            "echo" => said(arguments["text"].as_str().unwrap_or_default()),
            "add" => CallToolResult::structured(json!({ "sum": number("a") + number("b") })).into(),
            "fail" => CallToolResult::error(vec![ContentBlock::text("on purpose")]).into(),
            "stopped" => said(self.stopped.load(Ordering::Relaxed).to_string()),
            "slow" => self.slow(number("steps") as u32, context).await,
            "ask" | "sample" | "places" => return self.asking(request, context).await,
            "log" => {
                let message =
                    LoggingMessageNotificationParam::new(LoggingLevel::Warning, json!("careful"));
                let _ = context
                    .peer
                    .notify_logging_message(message.with_logger("peer"))
                    .await;
                said("logged")
            }
            "brew" => {
                let time = Duration::from_millis(number("time") as u64);
                self.brew(time, &context).await
            }
            "grow" => {
                if !is_modern(&context) {
                    let _ = context.peer.notify_tool_list_changed().await;
                }
                let _ = self.changes.send(Change::Tools);
                said("told")
            }
            "touch" => {
                if !is_modern(&context) {
                    let updated = ResourceUpdatedNotificationParam::new("peer://readme");
                    let _ = context.peer.notify_resource_updated(updated).await;
                }
                let _ = self.changes.send(Change::Readme);
                said("told")
            }
            other => return Err(Failure::invalid_params(format!("no tool {other}"), None)),
        })
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, Failure> {
        self.tasks
            .get_task(&request.task_id)
            .map(GetTaskResult::new)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), Failure> {
        self.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, Failure> {
        Ok(value(
            json!({ "resources": [{ "uri": "peer://readme", "name": "readme" }] }),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, Failure> {
        let greeting = json!({ "uriTemplate": "peer://greeting/{name}", "name": "greeting" });
        Ok(value(json!({ "resourceTemplates": [greeting] })))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, Failure> {
        let uri = request.uri;
        let text = match (&*uri, uri.strip_prefix("peer://greeting/")) {
            ("peer://readme", _) => "Read me.".to_owned(),
            (_, Some(name)) => format!("Hello, {name}!"),
            _ => {
                return Err(Failure::resource_not_found(
                    "not found",
                    Some(json!({ "uri": uri })),
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, Failure> {
        let arguments = json!([{ "name": "name", "required": true }]);
        Ok(value(
            json!({ "prompts": [{ "name": "greet", "arguments": arguments }] }),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, Failure> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = format!("Greet {}.", arguments["name"].as_str().unwrap_or_default());
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, Failure> {
        let names = ["ada", "alan"]
            .into_iter()
            .filter(|name| name.starts_with(&request.argument.value));
        let values: Vec<_> = names.collect();
        Ok(value(json!({ "completion": { "values": values } })))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The client knows of its subscription before `listen` runs, and may change something.
        self.waiting.lock().ok()?.push(self.changes.subscribe());
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), Failure> {
        let waiting = self.waiting.lock().ok().and_then(|mut all| all.pop());
        let mut changes = waiting.unwrap_or_else(|| self.changes.subscribe());
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            // Notifications without a subscription are refused, which has no effect on the client.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Readme) => {
                    context
                        .sink()
                        .notify_resource_updated("peer://readme")
                        .await
                }
                Err(_) => return Ok(()),
            };
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server {
        stopped: Arc::default(),
        changes: broadcast::Sender::new(64),
        waiting: Arc::default(),
        tasks: TaskManager::new(),
    };
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        server
            .serve(rmcp::transport::stdio())
            .await?
            .waiting()
            .await?;
        return Ok(());
    }
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening at http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
