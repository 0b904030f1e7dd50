//! `server/discover` and `initialize`, and their answers as events for the probe.

use std::{io, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use serde_json::{Value, value::RawValue};
use turnbuckle_base::error_chain;
use turnbuckle_protocol::{
    DiscoverResult, ErrorObject, Meta, ReadWarning, Revision, error::code::METHOD_NOT_FOUND,
    lenient, revision::Raise,
};
use turnbuckle_session::{
    probe::{self, Asked, Event},
    requests::Deadline,
};

use crate::{
    error::{CallError, ConnectError},
    link::{self, Initialized, Link, OnDrop, Outgoing},
    peer::Peer,
};

/// An answer that has not arrived yet.
pub(super) type PendingAnswer = BoxFuture<'static, Result<Box<RawValue>, CallError>>;

/// What the server has answered so far.
#[derive(Debug, Default)]
pub(super) struct ServerAnswers {
    /// The version of the last `server/discover`.
    asked_at: Option<Revision>,
    discovered: Option<DiscoverResult>,
    initialized: Option<Initialized>,
    /// The unreadable parts of the answers.
    warnings: Vec<ReadWarning>,
}

/// Sends `server/discover` at a version. Neither `server/discover` nor `initialize` is ever cancelled
/// on the wire: `initialize` must not be, and a server that does not know `server/discover` would not
/// understand its cancellation either.
pub(super) fn discover(link: &Arc<Link>, version: Revision) -> PendingAnswer {
    let link = link.clone();
    Box::pin(async move {
        link.announce(version, None);
        let outgoing = Outgoing::plain("server/discover");
        let request = link.prepare(&outgoing, Deadline::never(), OnDrop::Silence, &())?;
        request.answer(None).await
    })
}

/// Sends `initialize` at a version.
pub(super) fn initialize(link: &Arc<Link>, version: Revision) -> PendingAnswer {
    let link = link.clone();
    Box::pin(async move { link::initialize(&link, version).await })
}

impl ServerAnswers {
    /// Records the version of a `server/discover` that is being sent.
    pub(super) fn asked_at(&mut self, version: Revision) {
        self.asked_at = Some(version);
    }

    /// Converts an answer to an event for the probe.
    ///
    /// # Errors
    /// Fails if trying anything else would be useless, for example because the server requires
    /// authorization.
    pub(super) fn event(
        &mut self,
        link: &Link,
        asked: Asked,
        answer: Result<Box<RawValue>, CallError>,
        took: Duration,
    ) -> Result<Event, ConnectError> {
        match (asked, answer) {
            (Asked::Discover, Ok(result)) => Ok(self.discovered(&result)),
            (Asked::Initialize, Ok(result)) => Ok(self.initialized(&result, took)),
            (_, Err(CallError::Rejected { error, .. })) => Ok(self.rejected(link, asked, *error)),
            (_, Err(error)) => failed(link, asked, error),
        }
    }

    fn rejected(&self, link: &Link, asked: Asked, error: ErrorObject) -> Event {
        let is_modern = is_modern_refusal(link, asked, error.code);
        if let Some(version) = self.asked_at.filter(|_| is_modern) {
            let versions = vec![version.to_string()];
            return Event::Discovered { versions };
        }
        Event::Refused {
            asked,
            refusal: probe::ProbeRefusal::Error(error.code),
            supported: error.data.as_ref().map(supported).unwrap_or_default(),
            message: error.message,
        }
    }

    fn discovered(&mut self, result: &RawValue) -> Event {
        let read = lenient::read::<DiscoverResult>("server/discover", result.get());
        let Ok((discovered, warnings)) = read else {
            return Event::Garbage;
        };
        self.warnings = warnings;
        let versions = discovered.supported_versions.clone();
        self.discovered = Some(discovered);
        Event::Discovered { versions }
    }

    fn initialized(&mut self, result: &RawValue, took: Duration) -> Event {
        let Ok((initialized, warnings)) = lenient::read::<Initialized>("initialize", result.get())
        else {
            return Event::Garbage;
        };
        self.warnings = warnings;
        let version = initialized.protocol_version.clone();
        self.initialized = Some(initialized);
        Event::Initialized { version, took }
    }

    /// Returns the warnings about unreadable parts of the final answer.
    pub(super) fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the description of the server, once its revision is known.
    pub(super) fn into_peer(self, label: &Arc<str>, revision: Revision) -> Peer {
        let peer = Peer::new(label, revision);
        if !revision.is_modern() {
            let Some(mut it) = self.initialized else {
                return peer;
            };
            it.capabilities.raise(revision);
            return peer.with(it.server_info, it.capabilities, it.instructions);
        }
        let Some(it) = self.discovered else {
            return peer;
        };
        let implementation = it.meta.as_ref().and_then(Meta::server_info);
        peer.with(implementation, it.capabilities, it.instructions)
    }
}

/// Converts a failed request to an event for the probe.
fn failed(link: &Link, asked: Asked, error: CallError) -> Result<Event, ConnectError> {
    let refused = |refusal, message| Event::Refused {
        asked,
        refusal,
        message,
        supported: Vec::new(),
    };
    Ok(match error {
        CallError::Closed { .. } => Event::Closed,
        CallError::Unauthorized {
            server,
            status,
            challenge,
            text,
            ..
        } => {
            return Err(ConnectError::Unauthorized {
                server,
                status,
                challenge,
                text,
            });
        }
        CallError::Authorization { server, source, .. } => {
            return Err(ConnectError::Authorization { server, source });
        }
        CallError::Unsent { server, source, .. } => {
            let source = io::Error::other(source);
            return Err(ConnectError::Unreachable { server, source });
        }
        CallError::Status { status, text, .. } => {
            refused(probe::ProbeRefusal::Status(status), text)
        }
        // Over HTTP an unreadable answer still belongs to one request, so that request has failed.
        error if link.wire.is_http() => refused(
            probe::ProbeRefusal::NoAnswer,
            error_chain::in_one_line(&error),
        ),
        _ => Event::Garbage,
    })
}

/// streamable-http: a modern server answers an unknown method with status 404 and a JSON-RPC error. It
/// should support `server/discover`, but even a server that does not is modern if it answers like this.
fn is_modern_refusal(link: &Link, asked: Asked, code: i64) -> bool {
    let is_not_found = link
        .wire
        .http()
        .is_some_and(|http| http.last_status() == 404);
    is_not_found && asked == Asked::Discover && code == METHOD_NOT_FOUND
}

/// The supported versions that an error lists.
fn supported(data: &Value) -> Vec<String> {
    let versions = data.get("supported").and_then(Value::as_array);
    versions
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
