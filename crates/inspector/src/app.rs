//! Pages of tools (MCP Apps), read for the frame that shows them.

use serde::Serialize;
use turnbuckle::{apps::host, protocol::Tool};

use super::{
    inspector::Inspector,
    problem::{Problem, Who},
};

/// The data that the page needs to show an app.
#[derive(Serialize)]
pub(super) struct Ready {
    pub(super) url: String,
    permissions: String,
    prefers_border: Option<bool>,
    refused: Vec<String>,
}

impl Inspector {
    /// Reads the app at a URI, for a frame with the sandbox's origin.
    pub(super) async fn app(&self, id: &str, uri: &str, sandbox: &str) -> Result<Ready, Problem> {
        let not_connected = || Problem::new(Who::Transport, "the server is not connected");
        let connection = self.connection(id).ok_or_else(not_connected)?;
        let offer = self.offer(id, false).await.ok_or_else(not_connected)?;
        let tools = offer.tools.iter();
        let tool = tools
            .filter_map(|tool| serde_json::from_str::<Tool>(tool.text()).ok())
            .find(|tool| matches!(host::page_of(tool), Ok(Some(page)) if page == uri));
        let Some(tool) = tool else {
            let message = format!("no tool of the server has a page at `{uri}`");
            return Err(Problem::new(Who::Validation, message));
        };
        let view = host::open(&connection, &tool).await;
        let view = view.map_err(|error| Problem::of(Who::Protocol, &error))?;
        let Some(view) = view else {
            return Err(Problem::new(Who::Protocol, "the tool has no page"));
        };
        let nonce = self.apps.keep(&view)?;
        Ok(Ready {
            url: format!("{sandbox}/app/{nonce}"),
            permissions: view.policy().allow().to_owned(),
            prefers_border: view.ui().prefers_border,
            refused: view.policy().refused().to_vec(),
        })
    }
}
