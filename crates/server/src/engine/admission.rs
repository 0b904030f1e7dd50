//! Admission: determines the revision, caller and target of a request.
//!
//! A transport knows the era of a request, from the request itself and from its connection.
//! Everything else is determined here, once: the revision with which the request is served, and the
//! catalog entry that it names for this caller.

use std::sync::Arc;

use turnbuckle_protocol::{
    IdRef, LoggingLevel, Revision,
    envelope::{Raw, Request, RequestMeta},
};
use turnbuckle_session::{Era, Modern, ServerLifecycle, era};

use super::{
    answer,
    incoming::{Denied, Incoming},
    shared::Shared,
    sink::Sink,
    target,
};
use crate::{Fault, Reject, client::Peer};

/// The names of the log levels, for error messages.
pub(super) const LEVELS: &str =
    "debug, info, notice, warning, error, critical, alert and emergency";

/// A request that cannot be served with any revision of its era.
pub(crate) struct Inadmissible {
    revision: Revision,
    reject: Reject,
}

impl Inadmissible {
    fn modern(meta: Option<&RequestMeta<'_>>, reject: Reject) -> Self {
        let named = meta.and_then(RequestMeta::version);
        let named = named.and_then(|version| Revision::from_date(&version));
        let revision = named.filter(|revision| revision.is_modern());
        let revision = revision.unwrap_or(Revision::LATEST);
        Self { revision, reject }
    }

    /// Returns the error for the client.
    #[cfg(feature = "http")]
    pub(crate) fn into_reject(self) -> Reject {
        self.reject
    }

    /// Appends an error response.
    pub(crate) fn refuse(self, id: &IdRef<'_>, out: &mut impl Sink) {
        out.put(|out| answer::write_reject(self.revision, id, self.reject, out));
    }
}

/// Admits a request of this era.
///
/// If the request cannot be served with any revision. A method or an entry that does not exist is
/// not reported here, but by the method.
pub(crate) fn admit<'a>(
    shared: &Shared,
    peer: &'a Arc<Peer>,
    era: Era,
    request: &'a Request<'a>,
) -> Result<Incoming<'a>, Inadmissible> {
    let meta = request.params.meta();
    let is_odd = |meta: Raw<'_>| !meta.is_null();
    if meta.is_none() && request.params.get("_meta").is_some_and(is_odd) {
        let reject = Reject::invalid_params("`params._meta` must be an object");
        let revision = peer.session_revision().unwrap_or(Revision::LATEST);
        return Err(Inadmissible { revision, reject });
    }
    let revision = match era {
        Era::Modern => {
            modern_revision(meta).map_err(|reject| Inadmissible::modern(meta, reject))?
        }
        Era::Legacy => session_revision(peer, &request.method)?,
    };
    // The author's visibility rules are called here, and may panic.
    let found = Fault::caught(|| target::find(shared, peer.caller(), revision, request));
    Ok(Incoming {
        peer,
        revision,
        id: &request.id,
        method: &request.method,
        params: &request.params,
        has_trace: meta.is_some_and(RequestMeta::has_trace),
        target: found.unwrap_or_else(|fault| Err(Denied::Reject(fault.into_reject()))),
    })
}

/// The era of a request on a connection that may carry both eras.
pub(crate) fn era_on_line(peer: &Peer, request: &Request<'_>) -> Era {
    let meta = request.params.meta();
    let version = meta.and_then(|meta| meta.protocol_version);
    match era::of(&request.method, version.map(Raw::get)) {
        Era::Legacy if forgot_its_version(request) && peer.session_revision().is_none() => {
            Era::Modern
        }
        // A request that does not name a revision belongs to the session, if there is one.
        Era::Modern if version.is_none() && peer.session_revision().is_some() => Era::Legacy,
        era => era,
    }
}

/// Whether a request outside of a session is modern although it names no revision. Only modern
/// clients send their capabilities with a request. Such a client gets an error about the missing
/// version, and is not told to send `initialize`.
pub(crate) fn forgot_its_version(request: &Request<'_>) -> bool {
    let meta = request.params.meta();
    meta.is_some_and(|meta| meta.client_capabilities.is_some()) && request.method != "initialize"
}

/// Whether a request names a modern revision, even in a session.
pub(crate) fn names_version(request: &Request<'_>) -> bool {
    let meta = request.params.meta();
    meta.is_some_and(|meta| meta.protocol_version.is_some())
}

fn modern_revision(meta: Option<&RequestMeta<'_>>) -> Result<Revision, Reject> {
    let version = meta.and_then(RequestMeta::version);
    if version.is_none() && meta.is_some_and(|meta| meta.protocol_version.is_some()) {
        let problem = "`io.modelcontextprotocol/protocolVersion` must be a string";
        return Err(Reject::invalid_params(problem));
    }
    check_log_level(meta.and_then(|meta| meta.log_level))?;
    let capabilities = meta.and_then(|meta| meta.client_capabilities);
    let capabilities = capabilities.filter(|raw| raw.is_object());
    let checked = Modern::check(version.as_deref(), capabilities, Revision::NEWEST_FIRST);
    checked.map(|modern| modern.revision).map_err(|rejection| {
        let reject = Reject::new(rejection.code(), rejection.to_string());
        match rejection.data() {
            Some(data) => reject.with_data(data),
            None => reject,
        }
    })
}

fn session_revision(peer: &Peer, method: &str) -> Result<Revision, Inadmissible> {
    if method == "initialize" {
        return Ok(Revision::LATEST_LEGACY);
    }
    let admitted = match peer.lifecycle() {
        Some(session) => session.admit(method),
        None => ServerLifecycle::<()>::new().admit(method),
    };
    admitted
        .map(|revision| revision.unwrap_or(Revision::LATEST_LEGACY))
        .map_err(|refusal| Inadmissible {
            revision: Revision::LATEST_LEGACY,
            reject: Reject::new(refusal.code(), refusal.to_string()),
        })
}

/// logging: a request with an unknown log level SHOULD be rejected.
fn check_log_level(level: Option<Raw<'_>>) -> Result<(), Reject> {
    let is_level = |raw: Raw<'_>| raw.parse::<LoggingLevel>().is_ok();
    if level.is_none_or(is_level) {
        return Ok(());
    }
    Err(Reject::invalid_params(format!(
        "`io.modelcontextprotocol/logLevel` must be one of {LEVELS}"
    )))
}
