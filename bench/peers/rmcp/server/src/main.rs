//! The server of the comparison, built on rmcp: `echo`, `add`, `ask` and a hundred other tools.
//!
//! ```text
//! rmcp-server stdio
//! rmcp-server http PORT
//! ```
//!
//! It is configured to be as fast as rmcp allows: modern requests are answered with JSON instead of events (the
//! default), and the router is built once and shared (`#[tool_handler]` by itself builds it again
//! for each call). Requests in sessions are always answered with events.

use std::{error::Error, sync::Arc};

use rmcp::{
    ErrorData, Json, ServerHandler, ServiceExt,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        tool::ToolCallContext,
        wrapper::Parameters,
    },
    model::{
        CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult,
        ServerCapabilities, ServerConfig, Tool,
    },
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Clone)]
struct Peer {
    router: Arc<ToolRouter<Self>>,
}

#[tool_router(router = base_router)]
impl Peer {
    #[tool(name = "echo", description = "Returns its text argument")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    #[tool(name = "add", description = "Adds two integers")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(Sum {
            sum: a.wrapping_add(b),
        })
    }

    fn new() -> Self {
        let mut router = Self::base_router();
        for number in 0..100 {
            let name = format!("dummy_{number:03}");
            let about = format!(
                "Dummy tool number {number:03}, which gives tools/list a realistic payload."
            );
            let schema = json!({"type": "object", "required": ["query"], "properties": {
                "query": {"type": "string", "description": "Search query"},
                "limit": {"type": "integer", "description": "Maximum number of results", "minimum": 1, "maximum": 100},
                "verbose": {"type": "boolean", "description": "Verbose output"},
            }});
            router.add_route(ToolRoute::new_dyn(tool(name, about, schema), |_| {
                Box::pin(async { Ok(CallToolResult::success(vec![]).into()) })
            }));
        }
        let schema = json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}});
        let about = "Asks once, and returns its text argument".to_owned();
        router.add_route(ToolRoute::new_dyn(
            tool("ask".to_owned(), about, schema),
            |call| Box::pin(async move { ask(&call) }),
        ));
        Self {
            router: Arc::new(router),
        }
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

fn tool(name: String, about: String, schema: Value) -> Tool {
    let Value::Object(schema) = schema else {
        unreachable!("it is written as an object");
    };
    Tool::new(name, about, Arc::new(schema))
}

/// In the first round it returns a question; in the second it reads the answer.
fn ask(call: &ToolCallContext<'_, Peer>) -> Result<CallToolResponse, ErrorData> {
    let wrong = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
    let Some(answer) = call.input_responses.as_ref().and_then(|it| it.get("seat")) else {
        let question = json!({"method": "elicitation/create", "params": {
            "mode": "form", "message": "Which seat?", "requestedSchema": {
                "type": "object", "required": ["row"], "properties": {
                    "row": {"type": "integer", "minimum": 1, "maximum": 40, "description": "Counted from the front."},
                },
            },
        }});
        let mut questions = InputRequests::new();
        questions.insert(
            "seat".to_owned(),
            serde_json::from_value(question).map_err(wrong)?,
        );
        return Ok(InputRequiredResult::new(Some(questions), None).into());
    };
    let answer = serde_json::to_value(answer).map_err(wrong)?;
    let text = call.arguments.as_ref().and_then(|it| it["text"].as_str());
    match (answer["content"]["row"].as_u64(), text) {
        (Some(1..=40), Some(text)) => {
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
        }
        _ => Err(ErrorData::invalid_params("no seat, or no text", None)),
    }
}

async fn serve_http(peer: Peer, port: u16) -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(peer.clone()), sessions, config);
    let app = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("stdio"), None) => {
            let service = Peer::new().serve(rmcp::transport::stdio()).await?;
            service.waiting().await?;
            Ok(())
        }
        (Some("http"), Some(port)) => serve_http(Peer::new(), port.parse()?).await,
        _ => Err("usage: rmcp-server stdio | rmcp-server http PORT".into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // One thread, as in the servers that it is compared with.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}
