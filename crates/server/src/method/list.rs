//! `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list`: the shelves of the
//! catalog, page by page.
//!
//! The first page of a list that is the same for everybody is written once for each revision and
//! then copied as bytes until the catalog changes.

use turnbuckle_protocol::{CacheHint, CacheScope, Revision};

use super::Incoming;
use crate::{
    Cached, Reject, answer,
    catalog::{Entry, Page, Shelf},
    exchange::Step,
    shared::Shared,
    sink::{Sink, WrittenResult},
};

pub(super) fn tools(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let catalog = incoming.shared.catalog();
    let offered = super::offered(catalog.tools.is_offered(), "tools/list");
    serve(&catalog.tools, Cached::Tools, offered, incoming, out)
}

pub(super) fn prompts(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let catalog = incoming.shared.catalog();
    let offered = super::offered(catalog.prompts.is_offered(), "prompts/list");
    serve(&catalog.prompts, Cached::Prompts, offered, incoming, out)
}

pub(super) fn resources(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let catalog = incoming.shared.catalog();
    let offered = super::offered(catalog.offers_resources(), "resources/list");
    serve(
        &catalog.resources,
        Cached::Resources,
        offered,
        incoming,
        out,
    )
}

pub(super) fn templates(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let catalog = incoming.shared.catalog();
    let offered = super::offered(catalog.offers_resources(), "resources/templates/list");
    serve(
        &catalog.templates,
        Cached::Templates,
        offered,
        incoming,
        out,
    )
}

fn serve<E: Entry>(
    shelf: &Shelf<E>,
    list: Cached,
    offered: Result<(), Reject>,
    incoming: Incoming<'_>,
    out: &mut impl Sink,
) -> Step {
    match offered.and_then(|()| body(shelf, list, &incoming)) {
        Ok(body) => {
            out.put_result(&incoming.id, &body);
            Step::Done
        }
        Err(reject) => incoming.refuse(reject, out),
    }
}

fn body<E: Entry>(
    shelf: &Shelf<E>,
    list: Cached,
    incoming: &Incoming<'_>,
) -> Result<WrittenResult, Reject> {
    let Incoming {
        shared, revision, ..
    } = *incoming;
    let cursor = match incoming.params.get("cursor") {
        None => None,
        Some(raw) if raw.get() == "null" => None,
        Some(_) => Some(incoming.text("cursor")?),
    };
    let written = &shelf.written[revision.index()];
    let is_common = cursor.is_none() && !shelf.is_restricted();
    if is_common && let Some(body) = written.get() {
        return Ok(body.clone());
    }
    let caller = incoming.peer.caller();
    let page = shelf.page(
        revision,
        caller,
        |extension| incoming.declares(extension),
        cursor.as_deref(),
        shared.settings.page_size,
    )?;
    let mut hint = shared.settings.cache.of(list);
    if shelf.is_restricted() {
        // caching: what differs by caller is not for shared caches.
        hint.scope = CacheScope::Private;
    }
    let body = WrittenResult::new(write(shared, revision, member(list), &page, hint));
    if is_common {
        return Ok(written.get_or_init(|| body).clone());
    }
    Ok(body)
}

/// What the list is called in its result.
fn member(list: Cached) -> &'static str {
    match list {
        Cached::Tools => "tools",
        Cached::Prompts => "prompts",
        Cached::Templates => "resourceTemplates",
        Cached::Resources | Cached::Reads | Cached::Discovery => "resources",
    }
}

fn write(
    shared: &Shared,
    revision: Revision,
    member: &str,
    page: &Page,
    hint: CacheHint,
) -> Vec<u8> {
    let mut body = format!("{{\"{member}\":").into_bytes();
    body.extend_from_slice(&page.items);
    if let Some(next) = &page.next {
        // Our own cursors are letters and digits: nothing to escape.
        body.extend_from_slice(format!(",\"nextCursor\":\"{next}\"").as_bytes());
    }
    if revision.is_modern() {
        let scope = serde_json::to_string(&hint.scope).expect("a scope is a word");
        let hint = format!(",\"ttlMs\":{},\"cacheScope\":{scope}}}", hint.ttl_ms);
        body.extend_from_slice(hint.as_bytes());
        answer::splice(&mut body, &shared.modern_tail);
    } else {
        body.push(b'}');
    }
    body
}
