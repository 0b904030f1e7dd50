//! Pages of tools (MCP Apps), read and kept until the frame fetches them.

use std::collections::VecDeque;

use serde::Serialize;
use turnbuckle::{
    apps::host::{self, View},
    protocol::Tool,
};
use turnbuckle_base::lock::Mutex;

use super::{
    Inspector,
    problem::{Problem, Who},
};

/// 16 pages: each has 16 MiB at the most.
const MAX_PAGES: usize = 16;

/// The pages that may be fetched.
#[derive(Default)]
pub(super) struct Apps(Mutex<VecDeque<(String, Page)>>);

/// A page, and the policy that it is shown under.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) html: bytes::Bytes,
    pub(super) policy: String,
}

/// What the inspector's page needs to show it.
#[derive(Serialize)]
pub(super) struct Ready {
    pub(super) url: String,
    permissions: String,
    prefers_border: Option<bool>,
    refused: Vec<String>,
}

impl Apps {
    pub(super) fn page(&self, nonce: &str) -> Option<Page> {
        let pages = self.0.lock();
        let mut pages = pages.iter();
        pages
            .find(|(other, _)| other == nonce)
            .map(|(_, page)| page.clone())
    }

    fn keep(&self, view: &View) -> Result<String, Problem> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| Problem::new(Who::Transport, error.to_string()))?;
        let nonce = super::guard::hexadecimal(&bytes);
        let page = Page {
            html: view.html().to_owned().into(),
            policy: view.policy().to_string(),
        };
        let mut pages = self.0.lock();
        pages.push_back((nonce.clone(), page));
        if pages.len() > MAX_PAGES {
            pages.pop_front();
        }
        Ok(nonce)
    }
}

impl Inspector {
    /// Reads the page at a URI, for a frame of the sandbox's origin.
    pub(super) async fn app(&self, id: &str, uri: &str, sandbox: &str) -> Result<Ready, Problem> {
        let not_connected = || Problem::new(Who::Transport, "the server is not connected");
        let connection = self.connection(id).ok_or_else(not_connected)?;
        let offer = self.offer(id, false).await.ok_or_else(not_connected)?;
        let tools = offer.tools.iter();
        let tool = tools
            .filter_map(|tool| serde_json::from_str::<Tool>(tool.text()).ok())
            .find(|tool| matches!(host::page_of(tool), Ok(Some(page)) if page == uri));
        let Some(tool) = tool else {
            let message = format!("no tool of the server has its page at `{uri}`");
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
