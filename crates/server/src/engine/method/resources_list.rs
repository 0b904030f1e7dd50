//! `resources/list`: the resources of the catalog, followed by those that callbacks list.
//!
//! Without such callbacks the list comes from the catalog alone, like all other lists.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::{CacheScope, Cacheable as _, Cursor, ListResourcesResult};

use super::{list, route};
use crate::{
    Cached, Call, Failure, Fault, Paging, Reject,
    catalog::{Entry as _, Snapshot, TemplateEntry, fingerprint},
    engine::{Incoming, Served, Shared, Sink, StartedCall, content_check, target::offered},
    handler::ask::AskSlot,
};

/// The first character of cursors for a callback's page.
const CURSOR: &str = "l";

pub(super) fn serve(shared: &Arc<Shared>, incoming: &Incoming<'_>, out: &mut impl Sink) -> Served {
    let catalog = shared.catalog();
    if !catalog.lists_by_callback() {
        list::serve(
            shared,
            incoming,
            Cached::Resources,
            |all| &all.resources,
            out,
        );
        return Served::Done;
    }
    let started = start(shared, incoming, catalog);
    route::run(shared, incoming, started, out)
}

fn start(
    shared: &Arc<Shared>,
    incoming: &Incoming<'_>,
    catalog: Arc<Snapshot>,
) -> Result<StartedCall<ListResourcesResult>, Failure> {
    let is_offered = catalog.offers(incoming.caller(), |offer| offer.resources);
    offered(is_offered, incoming.method)?;
    let cursor = incoming.cursor()?;
    let place = PageStart::read(cursor.as_deref())?;
    let size = shared.settings.page_size;
    let mut hint = shared.responder.cache.of(Cached::Resources);
    // caching: the resources that a callback lists may differ by caller.
    hint.scope = CacheScope::Private;
    let name = Cow::Borrowed(incoming.method);
    let call = incoming.call(&shared.context, "resources/list", name, None, None);
    let paged = Paged {
        call: call.into_owned(),
        catalog,
        size,
        result: ListResourcesResult::default(),
    };
    let future = Box::pin(async move {
        let mut result = paged.fill(place).await?;
        result.set_cache(hint);
        Ok(result)
    });
    Ok(StartedCall {
        future,
        cancel: None,
        asking: AskSlot::Now(None),
    })
}

/// Where a page starts.
enum PageStart {
    /// In the resources of the catalog, after the position of this cursor.
    Catalog(Option<String>),
    /// In the callback of the template with this fingerprint, at the callback's own cursor.
    Callback(u64, Option<String>),
}

impl PageStart {
    fn read(cursor: Option<&str>) -> Result<Self, Reject> {
        let Some(cursor) = cursor else {
            return Ok(Self::Catalog(None));
        };
        let Some(rest) = cursor.strip_prefix(CURSOR) else {
            return Ok(Self::Catalog(Some(cursor.to_owned())));
        };
        let (template, own) = match rest.split_once(':') {
            Some((template, own)) => (template, Some(own.to_owned())),
            None => (rest, None),
        };
        let template = u64::from_str_radix(template, 16).map_err(|_| unknown_cursor())?;
        Ok(Self::Callback(template, own))
    }

    fn cursor(template: u64, own: Option<&str>) -> Cursor {
        Cursor(match own {
            Some(own) => format!("{CURSOR}{template:016x}:{own}"),
            None => format!("{CURSOR}{template:016x}"),
        })
    }
}

fn unknown_cursor() -> Reject {
    Reject::invalid_params(
        "invalid cursor: send a `nextCursor` of this list, or start again without a cursor",
    )
}

/// A page that is being filled.
struct Paged {
    call: Call<'static>,
    catalog: Arc<Snapshot>,
    size: usize,
    result: ListResourcesResult,
}

impl Paged {
    async fn fill(mut self, place: PageStart) -> Result<ListResourcesResult, Failure> {
        let callbacks = self.callbacks();
        let mut start = 0;
        let mut own = None;
        match place {
            PageStart::Catalog(cursor) => {
                self.take_from_catalog(cursor.as_deref())?;
                if self.result.next_cursor.is_some() {
                    return Ok(self.result);
                }
            }
            PageStart::Callback(template, cursor) => {
                // If the template was removed, or the caller may no longer see it, it has no pages.
                start = callbacks
                    .iter()
                    .position(|entry| fingerprint(entry.key()) == template)
                    .ok_or_else(unknown_cursor)?;
                own = cursor;
            }
        }
        for entry in &callbacks[start..] {
            // The cursor belongs to this callback; the next callback starts at its beginning.
            let own = own.take();
            let template = fingerprint(entry.key());
            let room = self.size.saturating_sub(self.result.resources.len());
            if room == 0 {
                self.result.next_cursor = Some(PageStart::cursor(template, own.as_deref()));
                break;
            }
            if let Some(next) = self.take_from_callback(entry, own, room).await? {
                self.result.next_cursor = Some(PageStart::cursor(template, Some(&next)));
                break;
            }
        }
        Ok(self.result)
    }

    /// The templates that this caller sees and whose resources are listed by a callback.
    fn callbacks(&self) -> Vec<Arc<TemplateEntry>> {
        let templates = self.catalog.templates.iter();
        templates
            .filter(|entry| entry.lister.is_some() && entry.is_visible(self.call.caller()))
            .cloned()
            .collect()
    }

    fn take_from_catalog(&mut self, cursor: Option<&str>) -> Result<(), Failure> {
        let caller = self.call.caller();
        let (resources, next) = self.catalog.resources.wires(caller, cursor, self.size)?;
        self.result.resources = resources;
        self.result.next_cursor = next.map(Cursor);
        Ok(())
    }

    async fn take_from_callback(
        &mut self,
        entry: &TemplateEntry,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<Option<String>, Failure> {
        let lister = entry.lister.as_ref().ok_or_else(|| {
            Failure::Fault(Fault::new(
                "the resource template has no callback that lists its resources",
            ))
        })?;
        self.call.insert(Paging::new(cursor, limit));
        let mut page = (lister.handler)(&self.call)?.await?;
        content_check::tidy_listed(&mut page.resources);
        self.result.resources.extend(page.resources);
        Ok(page.next)
    }
}
