//! The listed tools of a server: their output schemas, and the facts that are needed to send their
//! calls over HTTP.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{CallToolResult, Tool};

use super::output_schema::OutputSchema;
#[cfg(feature = "http")]
use super::{ExcludedTool, HttpNotes};
use crate::error::CallError;

/// How many tools of one server are remembered. Results of further tools are not checked: no model
/// chooses among more tools, and a server must not fill the client's memory.
const MAX_TOOLS: usize = 10_000;

/// How long after a failure the tools are listed again to get their output schemas.
const TRY_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// The listed tools of a server.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    list: Mutex<ToolList>,
    /// Whether the whole list was read, or cannot be read at all.
    is_listed: AtomicBool,
    /// When reading it last failed.
    failed: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct ToolList {
    by_name: HashMap<String, Arc<ListedTool>>,
    #[cfg(feature = "http")]
    excluded: Vec<ExcludedTool>,
}

/// One listed tool.
#[derive(Debug)]
pub(crate) struct ListedTool {
    output: Option<OutputSchema>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<HttpNotes>,
}

impl ListedTools {
    /// Records a page of the list. The first page begins a new list.
    pub(crate) fn learn<'t>(&self, tools: impl IntoIterator<Item = &'t Tool>, page: usize) {
        let mut list = self.list.lock();
        if page == 0 {
            list.by_name.clear();
        }
        for tool in tools {
            if let Some(schema) = &tool.output_schema {
                let listed = ListedTool {
                    output: Some(OutputSchema::new(schema.clone())),
                    #[cfg(feature = "http")]
                    http: None,
                };
                list.insert(tool, listed);
            }
        }
    }

    /// The same over HTTP, where tools that cannot be called are removed. Returns the removed tools.
    #[cfg(feature = "http")]
    pub(crate) fn learn_over_http(
        &self,
        tools: &mut Vec<Tool>,
        page: usize,
        revision: turnbuckle_protocol::Revision,
    ) -> Vec<ExcludedTool> {
        let mut list = self.list.lock();
        if page == 0 {
            *list = ToolList::default();
        }
        let mut excluded = Vec::new();
        tools.retain(|tool| match list.enter_over_http(tool, revision) {
            Ok(()) => true,
            Err(wrong) => {
                excluded.push(wrong);
                false
            }
        });
        list.exclude(&excluded);
        excluded
    }

    /// The same for a whole list that another component read, without the excluded tools.
    #[cfg(feature = "http")]
    pub(crate) fn learn_whole_over_http<'t>(
        &self,
        tools: impl IntoIterator<Item = &'t Tool>,
        revision: turnbuckle_protocol::Revision,
    ) -> Vec<ExcludedTool> {
        let mut list = self.list.lock();
        *list = ToolList::default();
        let excluded: Vec<_> = tools
            .into_iter()
            .filter_map(|tool| list.enter_over_http(tool, revision).err())
            .collect();
        list.exclude(&excluded);
        excluded
    }

    /// Whether the whole list was read since it last changed, or reading it failed a short while ago.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed.load(Ordering::Relaxed)
            || self
                .failed
                .lock()
                .is_some_and(|at| at.elapsed() < TRY_AGAIN_AFTER)
    }

    /// Records that the list could not be read. It is read again after a while.
    pub(crate) fn note_failed(&self) {
        *self.failed.lock() = Some(Instant::now());
    }

    /// Records that the list was read to its end, or that it cannot be read at all.
    pub(crate) fn note_listed(&self) {
        self.is_listed.store(true, Ordering::Relaxed);
    }

    /// Forgets everything, because the list has changed.
    pub(crate) fn forget(&self) {
        self.is_listed.store(false, Ordering::Relaxed);
        *self.list.lock() = ToolList::default();
    }

    /// Checks a result, if the tool's output schema is known.
    pub(crate) fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), CallError> {
        if result.is_error() {
            return Ok(());
        }
        let listed = self.find(tool);
        let promise = listed.as_ref().and_then(|listed| listed.output.as_ref());
        promise.map_or(Ok(()), |promise| promise.check(tool, result))
    }

    /// Returns the tools of the last list that were left out.
    #[cfg(feature = "http")]
    pub(crate) fn excluded(&self) -> Vec<ExcludedTool> {
        self.list.lock().excluded.clone()
    }

    /// Returns a tool that may be called; `None` if it was not listed.
    ///
    /// # Errors
    /// Fails if the tool was left out of the list. streamable-http: such a definition MUST be rejected.
    /// The headers for its arguments cannot be sent, so a server would refuse the call at best, and a
    /// proxy in front of the server might route it wrongly.
    #[cfg(feature = "http")]
    pub(crate) fn callable(&self, tool: &str) -> Result<Option<Arc<ListedTool>>, ExcludedTool> {
        let list = self.list.lock();
        if let Some(listed) = list.by_name.get(tool) {
            return Ok(Some(listed.clone()));
        }
        let excluded = list.excluded.iter().find(|other| other.name == tool);
        excluded.cloned().map_or(Ok(None), Err)
    }

    /// Whether a call of this tool can safely run twice.
    #[cfg(feature = "http")]
    pub(crate) fn is_repeatable(&self, tool: &str) -> bool {
        let listed = self.find(tool);
        let notes = listed.as_ref().and_then(|listed| listed.http.as_ref());
        notes.is_some_and(|notes| notes.is_repeatable)
    }

    fn find(&self, tool: &str) -> Option<Arc<ListedTool>> {
        self.list.lock().by_name.get(tool).cloned()
    }
}

impl ToolList {
    #[cfg(feature = "http")]
    fn enter_over_http(
        &mut self,
        tool: &Tool,
        revision: turnbuckle_protocol::Revision,
    ) -> Result<(), ExcludedTool> {
        let notes = HttpNotes::of(tool, revision)?;
        let schema = tool.output_schema.clone();
        let listed = ListedTool {
            output: schema.map(OutputSchema::new),
            http: Some(notes),
        };
        self.insert(tool, listed);
        Ok(())
    }

    #[cfg(feature = "http")]
    fn exclude(&mut self, excluded: &[ExcludedTool]) {
        let room = MAX_TOOLS.saturating_sub(self.excluded.len());
        self.excluded.extend(excluded.iter().take(room).cloned());
    }

    fn insert(&mut self, tool: &Tool, listed: ListedTool) {
        if self.by_name.len() < MAX_TOOLS {
            self.by_name.insert(tool.name.clone(), Arc::new(listed));
        }
    }
}
