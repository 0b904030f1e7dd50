//! State that handlers share: passed to the server once, and extracted by type. If a state is missing, building
//! the server fails.
//!
//! ```text
//! cargo run -p examples --example state
//! ```

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use turnbuckle::prelude::*;

/// Must be cheap to clone, because each call gets a clone.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<String, String>>>);

/// Writes a note down.
#[tool(idempotent)]
async fn remember(State(notes): State<Notes>, title: String, text: String) -> String {
    let mut notes = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    notes.insert(title, text);
    format!("{} notes", notes.len())
}

/// Reads a note.
#[tool(read_only)]
async fn recall(State(notes): State<Notes>, title: String) -> Result<String, ToolError> {
    let notes = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    notes
        .get(&title)
        .cloned()
        .ok_or_else(|| ToolError::new(format!("there is no note `{title}`")))
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .state(Notes::default())
        .tool(remember)
        .tool(recall)
        .serve(Stdio)
        .await
}
