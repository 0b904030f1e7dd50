//! Writes outcomes as results of the client's revision.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    CallToolResult, CompleteResult, ErrorObject, GetPromptResult, IdRef, Implementation,
    ListResourcesResult, Lower, Meta, ReadResourceResult, Revision,
    envelope::{self, Members},
    revision::ArgumentErrors,
};
use turnbuckle_session::round::Paused;

use super::{content_check, sink::Wrote};
use crate::{
    Cached, Catalog, ExtensionReply, Failure, Fault, Reject, catalog::caching::Caching,
    failure::ErrorTexts,
};

/// A result that is sent to clients.
pub(crate) trait WireResult: Serialize + Lower + Sized {
    fn meta_mut(&mut self) -> &mut Option<Meta>;

    /// Appends the result as JSON.
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, self)
    }

    /// Adds the members that only modern results have.
    fn modernise(&mut self, _cache: &Caching) {}

    /// Returns the answer for a client that cannot be asked a question of the handler.
    fn unaskable(reject: Reject, _revision: Revision) -> Result<Self, Reject> {
        Err(reject)
    }

    /// Returns the answer for an unexpected error, whose text may be shown to the client.
    fn unexpected(text: String) -> Result<Self, Reject> {
        Err(Reject::internal(text))
    }

    /// Returns the answer for arguments that do not match the schema.
    fn misfit(text: String, _revision: Revision) -> Result<Self, Reject> {
        Err(bad_arguments(&text))
    }

    /// Returns the reason why the author's result must not be sent; `None` if it is valid.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Whether the result contains a resource or a link to one.
    fn has_resources(&self) -> bool {
        false
    }

    /// Returns the `_meta` of each entry in the result.
    fn inner_meta(&mut self) -> impl Iterator<Item = &mut Meta> {
        std::iter::empty()
    }
}

/// The error for arguments that do not match the schema. The message is one sentence about the
/// first problem. The data contains the whole text, with a valid example.
// errors: a message SHOULD be one concise sentence.
fn bad_arguments(text: &str) -> Reject {
    const EXAMPLE: &str = "A valid example: ";
    let lines = || text.lines().filter(|line| !line.starts_with(EXAMPLE));
    let problems: Vec<&str> = lines().collect();
    let mut first = lines().filter_map(|line| line.strip_prefix("- "));
    let message = match (first.next(), first.count()) {
        (None, _) => text.to_owned(),
        (Some(problem), 0) => format!("invalid arguments: {problem}"),
        (Some(problem), more) => format!("invalid arguments: {problem} (and {more} more)"),
    };
    let example = text.lines().find_map(|line| line.strip_prefix(EXAMPLE));
    let example = example.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut data = json!({ "problems": problems });
    if let Some(example) = example {
        data["example"] = example;
    }
    Reject::invalid_params(message).with_data(data)
}

impl WireResult for CallToolResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        Self::write(self, out)
    }

    // mrtr: a modern client gets an error that names the missing capability; for older clients, the
    // model reads about it.
    fn unaskable(reject: Reject, revision: Revision) -> Result<Self, Reject> {
        if revision.is_modern() {
            return Err(reject);
        }
        Ok(Self::error(reject.as_error().message.as_str()))
    }

    // tools: errors of the tool itself are results, so that the model reads them.
    fn unexpected(text: String) -> Result<Self, Reject> {
        Ok(Self::error(text))
    }

    // tools: since 2025-11-25 a model reads what is wrong with its arguments; before, this was a
    // protocol error.
    fn misfit(text: String, revision: Revision) -> Result<Self, Reject> {
        match revision.rules().argument_errors {
            ArgumentErrors::Protocol => Err(bad_arguments(&text)),
            ArgumentErrors::Result => Ok(Self::error(text)),
        }
    }

    fn problem(&self) -> Option<String> {
        self.content.iter().find_map(content_check::block_problem)
    }

    fn has_resources(&self) -> bool {
        self.content.iter().any(content_check::is_resource)
    }

    fn inner_meta(&mut self) -> impl Iterator<Item = &mut Meta> {
        self.content.iter_mut().flat_map(content_check::block_metas)
    }
}

impl WireResult for GetPromptResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn problem(&self) -> Option<String> {
        let content = self.messages.iter().map(|message| &message.content);
        content.into_iter().find_map(content_check::block_problem)
    }

    fn has_resources(&self) -> bool {
        let mut messages = self.messages.iter();
        messages.any(|message| content_check::is_resource(&message.content))
    }

    fn inner_meta(&mut self) -> impl Iterator<Item = &mut Meta> {
        let content = self.messages.iter_mut().map(|message| &mut message.content);
        content.flat_map(content_check::block_metas)
    }
}

impl WireResult for CompleteResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}

impl WireResult for ListResourcesResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}

impl WireResult for ReadResourceResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    // The client sent a URI, which has variables and no arguments, so an example in JSON would not
    // help.
    fn misfit(text: String, _revision: Revision) -> Result<Self, Reject> {
        let problems: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("- "))
            .map(|line| match line.strip_prefix("`/") {
                Some(named) => format!("variable `{named}"),
                None => line.to_owned(),
            })
            .collect();
        let problems = match problems.as_slice() {
            [] => text,
            _ => problems.join("; "),
        };
        Err(Reject::invalid_params(format!(
            "the URI does not match its template: {problems}"
        )))
    }

    fn problem(&self) -> Option<String> {
        self.contents
            .iter()
            .find_map(content_check::contents_problem)
    }

    fn inner_meta(&mut self) -> impl Iterator<Item = &mut Meta> {
        self.contents
            .iter_mut()
            .filter_map(content_check::contents_meta)
    }

    // caching: complete results of `resources/read` carry a hint.
    fn modernise(&mut self, cache: &Caching) {
        let hint = cache.of(Cached::Reads);
        self.ttl_ms.get_or_insert(hint.ttl_ms);
        self.cache_scope.get_or_insert(hint.scope);
    }
}

impl WireResult for ExtensionReply {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        self.meta_mut()
    }

    fn modernise(&mut self, cache: &Caching) {
        self.set_cache_unless_set(cache.of(Cached::Reads));
    }
}

/// The tool or prompt that a result comes from. Its name is looked up only if something has to be
/// reported about it.
#[derive(Clone, Debug)]
pub(crate) enum ResultOf<'a> {
    /// A request with these params, which contain the name.
    Request(&'a Members<'a>),
    /// This name, if there is one.
    Named(Option<Box<str>>),
}

impl ResultOf<'_> {
    fn name(&self) -> Option<Box<str>> {
        match self {
            Self::Request(params) => serde_json::from_str(params.get("name")?.get()).ok(),
            Self::Named(name) => name.clone(),
        }
    }

    /// Copies the name, for calls that outlive their request.
    pub(crate) fn into_static(self) -> ResultOf<'static> {
        ResultOf::Named(self.name())
    }
}

/// The maximum number of tools and prompts that are reported because their results contain
/// resources.
const MAX_REPORTED: usize = 100;

/// The server's part of every answer: its description, and cache hints.
pub(crate) struct Responder {
    pub(crate) info: Implementation,
    pub(crate) cache: Caching,
    /// How unexpected errors are shown to clients.
    errors: ErrorTexts,
    /// The end of a modern result: its type and the server's description.
    pub(crate) complete_tail: Vec<u8>,
    /// The end of a modern result that asks questions.
    paused_tail: Vec<u8>,
    catalog: Catalog,
    /// Whether the server has resources, so that its results may contain resources.
    has_resources: AtomicBool,
    /// The tools and prompts that were reported because their results contain resources although the
    /// server has none.
    reported: Mutex<BTreeSet<Box<str>>>,
}

impl Responder {
    pub(crate) fn new(
        info: Implementation,
        cache: Caching,
        errors: ErrorTexts,
        catalog: Catalog,
    ) -> Self {
        Self {
            complete_tail: tail("complete", &info),
            paused_tail: tail("input_required", &info),
            info,
            cache,
            errors,
            catalog,
            has_resources: AtomicBool::new(false),
            reported: Mutex::default(),
        }
    }

    /// Reports, once for each tool or prompt, that its results contain resources although the server
    /// has no resources.
    // tools: servers that embed resources SHOULD implement `resources`.
    #[cold]
    fn report_resources(&self, of: &ResultOf<'_>) {
        if self.has_resources.load(Ordering::Relaxed) {
            return;
        }
        if self.catalog.snapshot().has_resources() {
            return self.has_resources.store(true, Ordering::Relaxed);
        }
        let name = of.name().unwrap_or_default();
        {
            let mut reported = self.reported.lock();
            if reported.len() >= MAX_REPORTED || !reported.insert(name.clone()) {
                return;
            }
        }
        let server = &*self.info.name;
        tracing::warn!(
            server,
            name = &*name,
            "a result contains a resource, but the server offers no resources, so clients cannot \
             read it again; add it with `Server::resource`"
        );
    }

    /// Removes parts of a result that must not be sent, and reports parts that should not be there.
    fn tidy<T: WireResult>(&self, result: &mut T, of: &ResultOf<'_>) {
        result
            .meta_mut()
            .iter_mut()
            .for_each(content_check::drop_bad_keys);
        result.inner_meta().for_each(content_check::drop_bad_keys);
        if result.has_resources() {
            self.report_resources(of);
        }
    }

    /// Converts the outcome of a call into a result or an error. The results of tasks are converted
    /// here, too.
    pub(crate) fn settle<T: WireResult>(
        &self,
        outcome: Result<T, Failure>,
        revision: Revision,
        of: &ResultOf<'_>,
    ) -> Result<T, Reject> {
        match outcome {
            Ok(mut result) => match result.problem() {
                None => {
                    self.tidy(&mut result, of);
                    Ok(result)
                }
                Some(problem) => Err(Fault::new(problem).into_reject()),
            },
            Err(Failure::Arguments(text)) => T::misfit(text, revision),
            Err(Failure::Reject(reject)) => Err(reject),
            Err(Failure::Unaskable(reject)) => T::unaskable(reject, revision),
            Err(Failure::Fault(fault)) => Err(fault.into_reject()),
            Err(Failure::Unexpected(fault)) => T::unexpected(fault.into_text(&self.errors)),
        }
    }

    /// Appends the response to a request.
    pub(crate) fn write<T: WireResult>(
        &self,
        revision: Revision,
        id: &IdRef<'_>,
        outcome: Result<T, Failure>,
        of: &ResultOf<'_>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        let written = self.settle(outcome, revision, of).and_then(|result| {
            envelope::write_result(out, id, |out| self.write_body(revision, result, out))
                .map_err(|error| Fault::new(error).into_reject())
        });
        match written {
            Ok(()) => Wrote::Result,
            Err(reject) => write_reject(revision, id, reject, out),
        }
    }

    fn write_body<T: WireResult>(
        &self,
        revision: Revision,
        mut result: T,
        out: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        if !revision.is_modern() {
            result.lower(revision);
            return result.write(out);
        }
        result.modernise(&self.cache);
        if let Some(meta) = result.meta_mut() {
            let own = std::mem::take(meta);
            *meta = own.with_server_info(&self.info);
            result.write(out)?;
            splice(out, br#""resultType":"complete"}"#);
        } else {
            result.write(out)?;
            splice(out, &self.complete_tail);
        }
        Ok(())
    }

    /// Appends a response that asks questions.
    pub(crate) fn write_paused(
        &self,
        revision: Revision,
        id: &IdRef<'_>,
        result: &Paused,
        out: &mut Vec<u8>,
    ) -> Wrote {
        let written = envelope::write_result(out, id, |out| {
            serde_json::to_writer(&mut *out, result)?;
            splice(out, &self.paused_tail);
            Ok::<(), serde_json::Error>(())
        });
        match written {
            Ok(()) => Wrote::Result,
            Err(error) => write_reject(revision, id, Fault::new(error).into_reject(), out),
        }
    }
}

/// Makes the end of a modern result: its type and the server's description.
fn tail(result_type: &str, info: &Implementation) -> Vec<u8> {
    let mut tail =
        format!(r#""resultType":"{result_type}","_meta":{{"io.modelcontextprotocol/serverInfo":"#)
            .into_bytes();
    serde_json::to_writer(&mut tail, info).expect("an Implementation is plain JSON");
    tail.extend_from_slice(b"}}");
    tail
}

/// Appends a result that is an empty object.
pub(crate) fn write_empty(id: &IdRef<'_>, out: &mut Vec<u8>) -> Wrote {
    envelope::write_raw_result(out, id, b"{}");
    Wrote::Result
}

/// Removes the closing brace of the object that was just written, and appends `tail`.
pub(crate) fn splice(out: &mut Vec<u8>, tail: &[u8]) {
    let closing = out.pop();
    debug_assert_eq!(closing, Some(b'}'), "results are objects");
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(tail);
}

/// Appends an error response.
pub(crate) fn write_reject(
    revision: Revision,
    id: &IdRef<'_>,
    reject: Reject,
    out: &mut Vec<u8>,
) -> Wrote {
    let mut error = reject.into_error();
    error.lower(revision);
    write_error(Ok(id), &error, out)
}

/// Appends an error response, which may be to a message whose id could not be parsed.
pub(crate) fn write_error(
    id: Result<&IdRef<'_>, envelope::UnreadableId>,
    error: &ErrorObject,
    out: &mut Vec<u8>,
) -> Wrote {
    envelope::write_error(out, id, error).expect("an error object is plain JSON");
    Wrote::Error(error.code)
}
