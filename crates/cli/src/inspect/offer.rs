//! What a server offers, as it said it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use turnbuckle::Connection;

use super::{Inspector, problem::Problem, raw::Raw};

/// 1,000 pages: a list that goes on after that does not end.
const MAX_PAGES: usize = 1_000;

/// 100,000 things in one list: ten times what the page is made for.
const MAX_LISTED: usize = 100_000;

/// The lists of a server.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offer {
    pub(super) tools: Vec<Raw>,
    pub(super) prompts: Vec<Raw>,
    resources: Vec<Raw>,
    resource_templates: Vec<Raw>,
    problems: Vec<Unlisted>,
}

/// A list that could not be had.
#[derive(Debug, Serialize)]
struct Unlisted {
    list: &'static str,
    error: Problem,
}

/// What a tool promises and wants.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Schemas {
    name: String,
    pub(super) input_schema: Option<Value>,
    pub(super) output_schema: Option<Value>,
}

impl Offer {
    async fn ask(connection: &Connection) -> Self {
        let can = connection.server().capabilities();
        // Whether the server offers what it does not speak of is not ours to find out.
        let has =
            |list: fn(&turnbuckle::protocol::ServerCapabilities) -> bool| can.is_none_or(list);
        let mut offer = Self::default();
        if has(|can| can.tools.is_some()) {
            offer.tools = offer.list(connection, "tools").await;
        }
        if has(|can| can.prompts.is_some()) {
            offer.prompts = offer.list(connection, "prompts").await;
        }
        if has(|can| can.resources.is_some()) {
            offer.resources = offer.list(connection, "resources").await;
            offer.resource_templates = offer.list(connection, "resourceTemplates").await;
        }
        offer
    }

    async fn list(&mut self, connection: &Connection, list: &'static str) -> Vec<Raw> {
        let mut listed = Vec::new();
        if let Err(error) = pages(connection, list, &mut listed).await {
            self.problems.push(Unlisted { list, error });
        }
        listed
    }

    /// The schemas of a tool.
    pub(super) fn tool(&self, name: &str) -> Option<Schemas> {
        let mut tools = self.tools.iter();
        tools.find_map(|tool| {
            // Cheaper than reading every schema.
            let is_likely = tool.text().contains(name) || tool.text().contains('\\');
            let schemas: Schemas = is_likely
                .then(|| serde_json::from_str(tool.text()).ok())
                .flatten()?;
            (schemas.name == name).then_some(schemas)
        })
    }

    /// The names of a prompt's arguments, as a schema.
    pub(super) fn prompt(&self, name: &str) -> Option<Value> {
        #[derive(Deserialize)]
        struct Prompt {
            name: String,
            #[serde(default)]
            arguments: Vec<Argument>,
        }
        #[derive(Deserialize)]
        struct Argument {
            name: String,
        }
        let mut prompts = self.prompts.iter();
        let prompt = prompts.find_map(|prompt| {
            let prompt: Prompt = serde_json::from_str(prompt.text()).ok()?;
            (prompt.name == name).then_some(prompt)
        })?;
        let names = prompt.arguments.into_iter();
        let properties: serde_json::Map<String, Value> = names
            .map(|argument| (argument.name, serde_json::json!({"type": "string"})))
            .collect();
        Some(serde_json::json!({ "properties": properties }))
    }
}

/// All pages of a list, with everything as it was sent.
async fn pages(
    connection: &Connection,
    list: &'static str,
    listed: &mut Vec<Raw>,
) -> Result<(), Problem> {
    let method = match list {
        "resourceTemplates" => "resources/templates/list".to_owned(),
        list => format!("{list}/list"),
    };
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map(|cursor| {
            let params = serde_json::json!({ "cursor": cursor });
            Raw::of(&params).to_box()
        });
        let page = connection.request_raw(method.clone(), params).await;
        let page = page.map_err(|error| Problem::from(&error))?;
        let (items, next) = read(&page, list)?;
        listed.extend(items);
        match next {
            Some(next) if listed.len() < MAX_LISTED => cursor = Some(next),
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn read(page: &RawValue, list: &str) -> Result<(Vec<Raw>, Option<String>), Problem> {
    let malformed = |problem: &str| {
        let message = format!("the list of {list} cannot be read: {problem}");
        Problem::new(super::problem::Who::Protocol, message)
    };
    let members: std::collections::HashMap<String, Box<RawValue>> =
        serde_json::from_str(page.get()).map_err(|error| malformed(&error.to_string()))?;
    let items = members
        .get(list)
        .ok_or_else(|| malformed("it has no such member"))?;
    let items: Vec<Box<RawValue>> =
        serde_json::from_str(items.get()).map_err(|error| malformed(&error.to_string()))?;
    let next = members
        .get("nextCursor")
        .and_then(|next| serde_json::from_str(next.get()).ok());
    Ok((items.into_iter().map(Raw::from).collect(), next))
}

impl Inspector {
    /// What a server offers: what is known, unless it shall be asked anew. `None` if it is not
    /// connected.
    pub(super) async fn offer(&self, id: &str, is_fresh: bool) -> Option<Arc<Offer>> {
        let connection = self.connection(id)?;
        if !is_fresh && let Some(known) = self.known_offer(id) {
            return Some(known);
        }
        let offer = Arc::new(Offer::ask(&connection).await);
        if let Some(entry) = self.lock().server(id) {
            entry.offer = Some(offer.clone());
        }
        Some(offer)
    }

    pub(super) fn known_offer(&self, id: &str) -> Option<Arc<Offer>> {
        self.lock().server(id)?.offer.clone()
    }
}
