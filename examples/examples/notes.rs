//! Resources from a database: a template, a callback that lists them page by page, suggestions for the
//! template's variable, and notifications of changes.
//!
//! ```text
//! cargo run -p examples --example notes
//! ```

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use turnbuckle::{Paging, Reject, ResourcePage, prelude::*, protocol, suggest};

/// A stand-in for a database: notes by title.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<String, String>>>);

impl Notes {
    fn titles_after(&self, last: &str, limit: usize) -> Vec<String> {
        let notes = self
            .0
            .lock()
            .expect("no code panics while it holds the lock");
        let later = notes.keys().filter(|title| title.as_str() > last);
        later.take(limit).cloned().collect()
    }
}

/// One page of the list. The cursor is the last title of the page before.
async fn list(State(notes): State<Notes>, page: Paging) -> ResourcePage {
    let last = page.cursor.unwrap_or_default();
    let titles = notes.titles_after(&last, page.limit);
    let is_full = titles.len() == page.limit;
    let next = titles.last().filter(|_| is_full).cloned();
    let resources: Vec<_> = titles
        .into_iter()
        .map(|title| protocol::Resource::new(format!("note://{title}"), title))
        .collect();
    ResourcePage::new(resources).with_next(next)
}

/// Titles that fit what the user has typed.
async fn titles(typed: String, State(notes): State<Notes>) -> Vec<String> {
    suggest(notes.titles_after("", usize::MAX), &typed)
}

/// A note.
#[resource("note://{title}", mime_type = "text/plain", list = list)]
async fn note(
    State(notes): State<Notes>,
    #[complete(titles)] title: String,
) -> Result<String, Reject> {
    let notes = notes
        .0
        .lock()
        .expect("no code panics while it holds the lock");
    let text = notes.get(&title).cloned();
    text.ok_or_else(|| Reject::resource_not_found(&format!("note://{title}")))
}

/// Writes a note. A function that waits for nothing need not be async.
#[tool(idempotent)]
fn write(
    State(notes): State<Notes>,
    #[extract] changes: Changes,
    title: String,
    text: String,
) -> &'static str {
    let mut map = notes
        .0
        .lock()
        .expect("no code panics while it holds the lock");
    let before = map.insert(title.clone(), text);
    drop(map);
    match before {
        Some(_) => changes.resource(format!("note://{title}")),
        None => changes.resources(),
    }
    "written"
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .state(Notes::default())
        .resource(note)
        .tool(write)
        .serve(Stdio)
        .await
}
