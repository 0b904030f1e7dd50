//! `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list`: the lists of the
//! catalog, page by page.
//!
//! If a list is the same for every caller, its first page is serialized once for each revision, and
//! copied as bytes until the catalog changes.

use bytes::Bytes;
use turnbuckle_protocol::{CacheHint, CacheScope, Revision};

use crate::{
    Cached, Reject,
    catalog::{Entry, EntryList, Offer, Page, Snapshot},
    engine::{Incoming, Responder, Shared, Sink, answer, target::offered},
};

/// Answers with a page of one list of the catalog.
pub(super) fn serve<E: Entry>(
    shared: &Shared,
    incoming: &Incoming<'_>,
    list: Cached,
    entries: fn(&Snapshot) -> &EntryList<E>,
    out: &mut impl Sink,
) {
    let catalog = shared.catalog();
    let part: fn(&Offer) -> bool = match list {
        Cached::Tools => |offer| offer.tools,
        Cached::Prompts => |offer| offer.prompts,
        _ => |offer| offer.resources,
    };
    let offered = offered(catalog.offers(incoming.caller(), part), incoming.method);
    match offered.and_then(|()| body(shared, entries(&catalog), list, incoming)) {
        Ok(body) => out.put_result(incoming.id, &body),
        Err(reject) => incoming.refuse(reject, out),
    }
}

/// The result, up to the end of its message.
fn body<E: Entry>(
    shared: &Shared,
    entries: &EntryList<E>,
    list: Cached,
    incoming: &Incoming<'_>,
) -> Result<Bytes, Reject> {
    let revision = incoming.revision;
    let cursor = incoming.cursor()?;
    let written = &entries.written[revision.index()];
    let is_common = cursor.is_none() && !entries.is_restricted();
    if is_common && let Some(body) = written.get() {
        return Ok(body.clone());
    }
    let page = entries.page(
        revision,
        incoming.caller(),
        |extension| incoming.declares(extension),
        cursor.as_deref(),
        shared.settings.page_size,
    )?;
    let mut hint = shared.responder.cache.of(list);
    if entries.is_restricted() {
        // caching: results that differ by caller are not for shared caches.
        hint.scope = CacheScope::Private;
    }
    let mut body = write(&shared.responder, revision, member(list), &page, hint);
    body.push(b'}');
    let body = Bytes::from(body);
    if is_common {
        return Ok(written.get_or_init(|| body).clone());
    }
    Ok(body)
}

/// The member of the result that contains the list.
fn member(list: Cached) -> &'static str {
    match list {
        Cached::Tools => "tools",
        Cached::Prompts => "prompts",
        Cached::Templates => "resourceTemplates",
        Cached::Resources | Cached::Reads | Cached::Discovery => "resources",
    }
}

fn write(
    responder: &Responder,
    revision: Revision,
    member: &str,
    page: &Page,
    hint: CacheHint,
) -> Vec<u8> {
    let mut body = format!("{{\"{member}\":").into_bytes();
    body.extend_from_slice(&page.items);
    if let Some(next) = &page.next {
        // The server's own cursors consist of letters, digits and hyphens, so nothing has to be
        // escaped.
        body.extend_from_slice(format!(",\"nextCursor\":\"{next}\"").as_bytes());
    }
    if revision.is_modern() {
        let scope = serde_json::to_string(&hint.scope).expect("a scope is a word");
        let hint = format!(",\"ttlMs\":{},\"cacheScope\":{scope}}}", hint.ttl_ms);
        body.extend_from_slice(hint.as_bytes());
        answer::splice(&mut body, &responder.complete_tail);
    } else {
        body.push(b'}');
    }
    body
}
