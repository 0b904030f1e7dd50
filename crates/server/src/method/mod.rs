//! The methods of the protocol, one file each, and the way to them.

mod completion_complete;
mod extension;
mod initialize;
mod list;
mod logging_set_level;
mod ping;
mod prompts_get;
mod resources_read;
mod resources_subscribe;
mod server_discover;
mod subscriptions_listen;
pub(crate) mod tasks;
mod tasks_cancel;
mod tasks_get;
mod tasks_list;
mod tasks_result;
mod tasks_update;
mod tools_call;

use std::sync::Arc;

use turnbuckle_protocol::{
    ClientCapabilities, IdRef, LoggingLevel, Revision,
    envelope::{Members, Raw, Request, RequestMeta},
};
use turnbuckle_session::{Era, Modern, ServerLifecycle, era};

use crate::{
    Reject, answer,
    exchange::{self, Step},
    peer::Peer,
    shared::Shared,
    sink::Sink,
};

/// A request whose era is settled.
pub(crate) struct Incoming<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) peer: &'a Arc<Peer>,
    pub(crate) revision: Revision,
    pub(crate) id: IdRef<'a>,
    pub(crate) params: Members<'a>,
    /// Whether the request says anything about a trace.
    pub(crate) has_trace: bool,
}

impl Incoming<'_> {
    /// Appends an error response.
    pub(crate) fn refuse(self, reject: Reject, out: &mut impl Sink) -> Step {
        out.put(|out| answer::write_reject(self.revision, &self.id, reject, out));
        Step::Done
    }

    /// The arguments of a call, if there are any. Some clients write null where they mean none.
    fn arguments(&self) -> Result<Option<Raw<'_>>, Reject> {
        let arguments = self.params.get("arguments");
        let arguments = arguments.filter(|raw| !raw.is_null());
        if arguments.is_some_and(|raw| !raw.is_object()) {
            return Err(Reject::invalid_params(
                "`params.arguments` must be an object",
            ));
        }
        Ok(arguments)
    }

    /// Whether the client declared an extension, with this request or in the handshake.
    fn declares(&self, extension: &str) -> bool {
        if !self.revision.is_modern() {
            let client = self.peer.client();
            return client.is_some_and(|client| client.capabilities.extension(extension).is_some());
        }
        let meta = self.params.get("_meta").and_then(RequestMeta::from_raw);
        let declared = meta.and_then(|meta| meta.client_capabilities);
        let declared = declared.and_then(|raw| raw.parse::<ClientCapabilities>().ok());
        declared.is_some_and(|client| client.extension(extension).is_some())
    }

    /// A member of `params` that must be a string.
    fn text(&self, name: &str) -> Result<std::borrow::Cow<'_, str>, Reject> {
        self.params
            .text(name)
            .ok_or_else(|| Reject::invalid_params(format!("`params.{name}` must be a string")))
    }
}

/// Serves one request: what is ready at once is appended to `out`.
pub(crate) fn serve(
    shared: &Arc<Shared>,
    peer: &Arc<Peer>,
    request: Request<'_>,
    out: &mut impl Sink,
) -> Step {
    let Request { id, method, params } = request;
    match settle(peer, &method, &params) {
        Ok((revision, has_trace)) => {
            let incoming = Incoming {
                shared,
                peer,
                revision,
                id: id.clone(),
                params,
                has_trace,
            };
            // What the author wrote is guarded where it is called; this is for the rest of it, such
            // as the rules of who sees what.
            exchange::caught(|| route(&method, incoming, out)).unwrap_or_else(|fault| {
                out.put(|out| answer::write_reject(revision, &id, fault.into_reject(), out));
                Step::Done
            })
        }
        Err((revision, reject)) => {
            out.put(|out| answer::write_reject(revision, &id, reject, out));
            Step::Done
        }
    }
}

/// Whether a request names a modern revision, whatever the session.
pub(crate) fn is_modern(request: &Request<'_>) -> bool {
    let meta = request.params.meta();
    meta.is_some_and(|meta| meta.protocol_version.is_some())
}

/// Reads the era off the request, and finds the revision to serve it at; says too whether the
/// request belongs to a trace.
fn settle(
    peer: &Peer,
    method: &str,
    params: &Members<'_>,
) -> Result<(Revision, bool), (Revision, Reject)> {
    let none = RequestMeta::default();
    let meta = match params.meta() {
        Some(meta) => meta,
        None if params.get("_meta").is_none() => &none,
        None => {
            let session = peer.session_revision().unwrap_or(Revision::LATEST);
            let problem = "`params._meta` must be an object";
            return Err((session, Reject::invalid_params(problem)));
        }
    };
    let version = meta.version();
    if meta.protocol_version.is_some() && version.is_none() {
        let problem = "`io.modelcontextprotocol/protocolVersion` must be a string";
        return Err((Revision::LATEST, Reject::invalid_params(problem)));
    }
    // Only modern clients say in a request what they can do: one that forgot its version is told
    // so, and is not sent to `initialize`.
    let is_modern_by_its_fields = meta.client_capabilities.is_some() && method != "initialize";
    let era = match era::of(method, version.as_deref()) {
        Era::Legacy if is_modern_by_its_fields && peer.session_revision().is_none() => Era::Modern,
        // A session has settled the era of what says nothing for itself.
        Era::Modern if version.is_none() && peer.session_revision().is_some() => Era::Legacy,
        era => era,
    };
    let settled = match era {
        Era::Modern => {
            check_log_level(meta).map_err(|reject| (Revision::LATEST, reject))?;
            let capabilities = meta.client_capabilities.filter(|raw| raw.is_object());
            Modern::check(version.as_deref(), capabilities, Revision::NEWEST_FIRST)
                .map(|modern| modern.revision)
                .map_err(|rejection| {
                    let reject = Reject::new(rejection.code(), rejection.to_string());
                    let reject = match rejection.data() {
                        Some(data) => reject.with_data(data),
                        None => reject,
                    };
                    (Revision::LATEST, reject)
                })
        }
        Era::Legacy if method == "initialize" => Ok(Revision::LATEST_LEGACY),
        Era::Legacy => {
            let admitted = match peer.session() {
                Some(session) => session.admit(method),
                None => ServerLifecycle::<()>::new().admit(method),
            };
            admitted
                .map(|revision| revision.unwrap_or(Revision::LATEST_LEGACY))
                .map_err(|refusal| {
                    let reject = Reject::new(refusal.code(), refusal.to_string());
                    (Revision::LATEST_LEGACY, reject)
                })
        }
    };
    settled.map(|revision| (revision, meta.has_trace()))
}

/// The words for levels, as an error names them.
const LEVELS: &str = "debug, info, notice, warning, error, critical, alert and emergency";

/// logging: a request whose level is none of the words SHOULD be refused.
fn check_log_level(meta: &RequestMeta<'_>) -> Result<(), Reject> {
    let is_level = |raw: Raw<'_>| raw.parse::<LoggingLevel>().is_ok();
    if meta.log_level.is_none_or(is_level) {
        return Ok(());
    }
    Err(Reject::invalid_params(format!(
        "`io.modelcontextprotocol/logLevel` must be one of {LEVELS}"
    )))
}

fn route(method: &str, incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let is_modern = incoming.revision.is_modern();
    match method {
        "tools/call" => tools_call::serve(incoming, out),
        "tools/list" => list::tools(incoming, out),
        "prompts/get" => prompts_get::serve(incoming, out),
        "prompts/list" => list::prompts(incoming, out),
        "resources/read" => resources_read::serve(incoming, out),
        "resources/subscribe" if !is_modern => resources_subscribe::subscribe(incoming, out),
        "resources/unsubscribe" if !is_modern => resources_subscribe::unsubscribe(incoming, out),
        "resources/list" => list::resources(incoming, out),
        "resources/templates/list" => list::templates(incoming, out),
        "completion/complete" => completion_complete::serve(incoming, out),
        "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" | "tasks/list" => {
            tasks::route(method, incoming, out)
        }
        "server/discover" if is_modern => server_discover::serve(&incoming, out),
        "subscriptions/listen" if is_modern => subscriptions_listen::serve(incoming, out),
        "initialize" if !is_modern => initialize::serve(incoming, out),
        "logging/setLevel" if !is_modern => logging_set_level::serve(incoming, out),
        "ping" if !is_modern => ping::serve(&incoming, out),
        _ => {
            if let Some(entry) = incoming.shared.extensions.method(method) {
                return extension::serve(incoming, entry, out);
            }
            let reject = Reject::method_not_found(method);
            incoming.refuse(reject, out)
        }
    }
}

/// What the author left out of the server is not there: no tools, no `tools/…`.
fn offered(is_offered: bool, method: &str) -> Result<(), Reject> {
    if is_offered {
        Ok(())
    } else {
        Err(Reject::method_not_found(method))
    }
}
