//! The four lists of a server, as a whole or as a stream that fetches pages on demand.

use std::{
    collections::{HashSet, VecDeque},
    future::IntoFuture,
    hash::{BuildHasher, RandomState},
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::time::timeout;
use turnbuckle_protocol::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, Resource, ResourceTemplate, Tool, error::code,
    lenient::ReadWarning,
};

use super::{ClientCall, Parsed, arguments::object, builder::Body};
use crate::{
    cache::Freshness, connection::Connection, error::CallError, link::Link, profile::OutputCheck,
};

/// The limit on the pages of one list. A server with more entries is better asked for single ones, and
/// a server could also make up pages without end.
const MAX_PAGES: usize = 10_000;

/// The time limit for listing the tools to check a result that has already arrived.
const LEARN_WITHIN: Duration = Duration::from_secs(5);

/// The limit on the entries that are collected into one `Vec`. Longer lists can be read as a stream.
const MAX_ENTRIES: usize = 1_000_000;

impl Connection {
    /// Lists the tools: all pages, in the order of the server. Use [`List::stream`] to read them
    /// one by one.
    ///
    /// The client remembers their output schemas, and checks results of calls against them. The
    /// list comes from the [cache](crate::Cache) if the server allows it.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if the server has no tools, and [`CallError::EndlessList`] if the
    /// list does not end.
    pub fn tools(&self) -> List<'_, Tool> {
        List::new(self.link())
    }

    /// Records tools that were listed with [`request_raw`](Self::request_raw), as
    /// [`tools`](Self::tools) does: results of these tools are checked from now on, and over HTTP their
    /// header annotations are known. Returns the names of tools that cannot be called, which
    /// [`tools`](Self::tools) would leave out.
    pub fn note_tools<'t>(&self, tools: impl IntoIterator<Item = &'t Tool>) -> Vec<String> {
        let link = self.link();
        #[cfg(feature = "http")]
        if link.wire.is_http() {
            let excluded = link.tools.learn_whole_over_http(tools, link.revision());
            link.tools.note_listed();
            return excluded.into_iter().map(|tool| tool.name).collect();
        }
        link.tools.learn(tools, 0);
        link.tools.note_listed();
        Vec::new()
    }

    /// Lists the prompts, as [`tools`](Self::tools) lists the tools, with the same errors. Get one
    /// with [`get`](Self::get).
    pub fn prompts(&self) -> List<'_, Prompt> {
        List::new(self.link())
    }

    /// Lists the resources, as [`tools`](Self::tools) lists the tools, with the same errors. Read
    /// one with [`read`](Self::read). Resources of templates need not be listed.
    pub fn resources(&self) -> List<'_, Resource> {
        List::new(self.link())
    }

    /// Lists the resource templates, as [`tools`](Self::tools) lists the tools, with the same errors.
    /// Fill in the variables of a template and [`read`](Self::read) the resulting URI.
    pub fn resource_templates(&self) -> List<'_, ResourceTemplate> {
        List::new(self.link())
    }
}

/// A list to be fetched. Awaiting it returns all entries; [`stream`](Self::stream) returns them one by
/// one.
///
/// Entries that cannot be read are left out, and reported by
/// [`Connection::warnings`](crate::Connection::warnings). A list of more than a million entries can
/// only be read as a stream.
///
/// # Cancel safety
/// Dropping the future cancels the request for the current page.
#[must_use = "nothing is sent before it is awaited"]
pub struct List<'a, T> {
    pages: Pages<'a, T>,
}

/// The entries of a list, fetched page by page as they are read. It ends after an error. Made by
/// [`List::stream`]. It implements `Stream`.
pub struct ListStream<'a, T> {
    entries: VecDeque<T>,
    state: StreamState<'a, T>,
}

enum StreamState<'a, T> {
    Idle(Pages<'a, T>),
    Fetching(BoxFuture<'a, (Pages<'a, T>, Fetched<T>)>),
    Done,
}

/// The entries of a page; `None` after the last page.
type Fetched<T> = Result<Option<Vec<T>>, CallError>;

/// The kinds of entries that servers list: tools, prompts, resources, resource templates. The trait is
/// sealed and implemented for these four only.
pub trait Listed: sealed::Sealed + Sized + Send + 'static {
    /// The method that lists them.
    const METHOD: &'static str;
    /// One page of the list, in the form in which the server sends it.
    type Page: DeserializeOwned;

    /// Splits a page into its entries and the cursor of the next page.
    fn split(page: Self::Page) -> (Vec<Self>, Option<Cursor>);

    /// Returns the entries if they are tools.
    fn as_tools(_entries: &mut Vec<Self>) -> Option<&mut Vec<Tool>> {
        None
    }
}

impl Listed for Tool {
    const METHOD: &'static str = "tools/list";
    type Page = ListToolsResult;

    fn split(page: ListToolsResult) -> (Vec<Self>, Option<Cursor>) {
        (page.tools, page.next_cursor)
    }

    fn as_tools(entries: &mut Vec<Self>) -> Option<&mut Vec<Tool>> {
        Some(entries)
    }
}

impl Listed for Prompt {
    const METHOD: &'static str = "prompts/list";
    type Page = ListPromptsResult;

    fn split(page: ListPromptsResult) -> (Vec<Self>, Option<Cursor>) {
        (page.prompts, page.next_cursor)
    }
}

impl Listed for Resource {
    const METHOD: &'static str = "resources/list";
    type Page = ListResourcesResult;

    fn split(page: ListResourcesResult) -> (Vec<Self>, Option<Cursor>) {
        (page.resources, page.next_cursor)
    }
}

impl Listed for ResourceTemplate {
    const METHOD: &'static str = "resources/templates/list";
    type Page = ListResourceTemplatesResult;

    fn split(page: ListResourceTemplatesResult) -> (Vec<Self>, Option<Cursor>) {
        (page.resource_templates, page.next_cursor)
    }
}

/// The position in a list: the pages read so far, and the next one.
struct Pages<'a, T> {
    link: &'a Link,
    deadline: Option<Duration>,
    freshness: Freshness,
    next: Next,
    /// Digests of the cursors so far. Digests, because a server may make cursors as long as it likes.
    seen: HashSet<u64>,
    digest: RandomState,
    fetched: usize,
    entry: PhantomData<fn() -> T>,
}

enum Next {
    First,
    After(Cursor),
    End,
}

impl<'a, T: Listed> List<'a, T> {
    pub(super) fn new(link: &'a Link) -> Self {
        let pages = Pages {
            link,
            deadline: None,
            freshness: Freshness::Allowed(None),
            next: Next::First,
            seen: HashSet::new(),
            digest: RandomState::new(),
            fetched: 0,
            entry: PhantomData,
        };
        Self { pages }
    }

    /// Sets the deadline for each page. Defaults to that of the client.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.pages.deadline = Some(deadline);
        self
    }

    /// Bypasses the cache: asks the server, and stores the new list. Use it after the user asked
    /// for a reload. See [`Cache`](crate::Cache).
    pub fn fresh(mut self) -> Self {
        self.pages.freshness = self.pages.freshness.fresh();
        self
    }

    /// Accepts a cached list that expired at most this long ago if the server cannot be reached.
    /// See [`Cache::stale_on_error`](crate::Cache::stale_on_error).
    pub fn stale_on_error(mut self, at_most: Duration) -> Self {
        self.pages.freshness = self.pages.freshness.stale_on_error(at_most);
        self
    }

    /// Returns a stream of the entries. Pages are fetched when they are needed.
    ///
    /// ```no_run
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let mut resources = server.resources().stream();
    /// while let Some(resource) = resources.next().await {
    ///     println!("{}", resource?.uri);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn stream(self) -> ListStream<'a, T> {
        ListStream {
            entries: VecDeque::new(),
            state: StreamState::Idle(self.pages),
        }
    }

    async fn all(mut self) -> Result<Vec<T>, CallError> {
        let (link, deadline) = (self.pages.link, self.pages.deadline);
        match self.pages.gather().await {
            // caching: if a cursor is not valid any more, the earlier pages are outdated too.
            Err(error) if self.pages.is_outdated(&error) => {
                let mut again = Self::new(link).fresh();
                again.pages.deadline = deadline;
                again.pages.gather().await
            }
            gathered => gathered,
        }
    }
}

impl<T: Listed> Pages<'_, T> {
    async fn gather(&mut self) -> Result<Vec<T>, CallError> {
        let mut all = Vec::new();
        while let Some(page) = self.next().await? {
            if all.len() + page.len() > MAX_ENTRIES {
                let reason = format!("it has more than {MAX_ENTRIES} entries");
                return Err(self.endless(&reason));
            }
            all.extend(page);
        }
        Ok(all)
    }

    /// Whether an error says that the earlier pages are out of date. If it does, they are removed from
    /// the cache.
    fn is_outdated(&self, error: &CallError) -> bool {
        let is_refused = error
            .rejection()
            .is_some_and(|error| error.code == code::INVALID_PARAMS);
        is_refused
            && self.fetched > 0
            && self.link.cache.forget(|method, _| method == T::METHOD) > 0
    }
}

impl<'a, T: Listed> IntoFuture for List<'a, T> {
    type Output = Result<Vec<T>, CallError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.all())
    }
}

/// Whether a tool call was refused because of a header mismatch, so the list of tools is out of date.
#[cfg(feature = "http")]
pub(super) fn is_outdated(link: &Link, method: &str, error: &CallError) -> bool {
    method == "tools/call"
        && link.wire.is_http()
        && error
            .rejection()
            .is_some_and(|error| error.code == code::HEADER_MISMATCH)
}

/// Lists the tools again, to get their current header annotations.
#[cfg(feature = "http")]
pub(crate) async fn refetch_tools(link: &Link) -> bool {
    let listed = List::<Tool>::new(link).fresh().await;
    if let Err(error) = &listed {
        tracing::debug!(server = &**link.server(), %error, "could not list the tools again");
    }
    listed.is_ok()
}

/// Lists the tools for their output schemas, if a result has structured content to check and the tools
/// have not been listed since they last changed.
///
/// The result has already arrived, so this takes at most a few seconds, and at most as long as the
/// deadline of the call, counted from now.
pub(crate) async fn learn_promises(link: &Link, result: &RawValue, deadline: Option<Duration>) {
    let has_something = match link.profile().settings.output {
        OutputCheck::Skip => false,
        OutputCheck::Strict => true,
        _ => result.get().contains("\"structuredContent\""),
    };
    if !has_something || link.tools.is_listed() {
        return;
    }
    let within = deadline.map_or(LEARN_WITHIN, |deadline| deadline.min(LEARN_WITHIN));
    // Boxed, because this makes another call within a call.
    let listed = Box::pin(List::<Tool>::new(link).into_future());
    let problem = match timeout(within, listed).await {
        Ok(Ok(_)) => return,
        Ok(Err(error)) => {
            let rejection = error.rejection();
            if rejection.is_some_and(|error| error.code == code::METHOD_NOT_FOUND) {
                link.tools.note_listed();
                return;
            }
            error.to_string()
        }
        Err(_) => format!("listing took longer than {within:?}"),
    };
    link.tools.note_failed();
    let problem = format!("cannot list the tools, so their results are not checked: {problem}");
    let warning = ReadWarning::new("tools/list", "", problem, serde_json::Value::Null);
    link.warnings.add(link.server(), vec![warning]);
}

impl<T: Listed> Pages<'_, T> {
    async fn next(&mut self) -> Fetched<T> {
        let params = match std::mem::replace(&mut self.next, Next::End) {
            Next::First => PaginatedRequestParams::new(),
            Next::After(cursor) => PaginatedRequestParams::after(cursor),
            Next::End => return Ok(None),
        };
        if self.fetched == MAX_PAGES {
            return Err(self.endless(&format!("it has more than {MAX_PAGES} pages")));
        }
        let body = object(T::METHOD, &params).map(Body::Plain);
        let mut call = ClientCall::new(self.link, T::METHOD, body, |reader, raw| {
            reader
                .complete::<T::Page>(&raw)
                .map(|page| Parsed::Done(T::split(page)))
        });
        call.options.deadline = self.deadline;
        call.options.freshness = self.freshness;
        let (mut entries, next) = call.await?;
        if let Some(tools) = T::as_tools(&mut entries) {
            self.learn(tools);
        }
        self.fetched += 1;
        if let Some(cursor) = next {
            // Cursors are opaque, but a cursor that comes twice means that the list never ends.
            if !self.seen.insert(self.digest.hash_one(&cursor)) {
                if cursor.as_str().is_empty() {
                    // Some servers send an empty cursor at the end of a list.
                    let problem = "`nextCursor` is empty again; read as the end of the list";
                    let warning =
                        ReadWarning::new(T::METHOD, "/nextCursor", problem, serde_json::json!(""));
                    self.link.warnings.add(self.link.server(), vec![warning]);
                    return Ok(Some(self.last(entries)));
                }
                return Err(self.endless("the same cursor came twice"));
            }
            self.next = Next::After(cursor);
            return Ok(Some(entries));
        }
        Ok(Some(self.last(entries)))
    }

    /// Returns the entries of the last page, and records that the tools were listed.
    fn last(&self, mut entries: Vec<T>) -> Vec<T> {
        if T::as_tools(&mut entries).is_some() {
            self.link.tools.note_listed();
        }
        entries
    }

    /// Records the output schemas and header annotations of tools, and removes tools that cannot be
    /// called.
    #[cfg_attr(
        not(feature = "http"),
        expect(clippy::ptr_arg, reason = "over HTTP some are left out")
    )]
    fn learn(&self, tools: &mut Vec<Tool>) {
        let link = self.link;
        #[cfg(feature = "http")]
        if link.wire.is_http() {
            let revision = link.revision();
            for excluded in link.tools.learn_over_http(tools, self.fetched, revision) {
                let (tool, reason) = (excluded.name, excluded.reason);
                let server = &**link.server();
                tracing::warn!(server, tool, reason, "left a tool out of the list");
            }
            return;
        }
        link.tools.learn(&*tools, self.fetched);
    }

    fn endless(&self, reason: &str) -> CallError {
        CallError::EndlessList {
            server: self.link.server().clone(),
            method: T::METHOD.into(),
            reason: reason.into(),
        }
    }
}

impl<T: Listed> ListStream<'_, T> {
    /// Returns the next entry; `None` at the end of the list.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the next call continues to fetch the page.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, CallError>>> {
        loop {
            if let Some(entry) = self.entries.pop_front() {
                return Poll::Ready(Some(Ok(entry)));
            }
            match std::mem::replace(&mut self.state, StreamState::Done) {
                StreamState::Done => return Poll::Ready(None),
                StreamState::Idle(mut pages) => {
                    self.state = StreamState::Fetching(Box::pin(async move {
                        let page = pages.next().await;
                        (pages, page)
                    }));
                }
                StreamState::Fetching(mut fetch) => {
                    let Poll::Ready((pages, page)) = fetch.as_mut().poll(context) else {
                        self.state = StreamState::Fetching(fetch);
                        return Poll::Pending;
                    };
                    match page {
                        Ok(Some(page)) => {
                            self.entries.extend(page);
                            self.state = StreamState::Idle(pages);
                        }
                        Ok(None) => return Poll::Ready(None),
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    }
                }
            }
        }
    }
}

impl<T: Listed + Unpin> Stream for ListStream<'_, T> {
    type Item = Result<T, CallError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

mod sealed {
    //! Seals the trait for the four kinds of lists that the protocol has.

    pub trait Sealed {}
    impl Sealed for super::Tool {}
    impl Sealed for super::Prompt {}
    impl Sealed for super::Resource {}
    impl Sealed for super::ResourceTemplate {}
}
