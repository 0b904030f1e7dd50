//! `server/discover` and `initialize`, and their answers as events of the probe.

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

/// An answer on its way.
pub(super) type PendingAnswer = BoxFuture<'static, Result<Box<RawValue>, CallError>>;

/// What is known of the server so far.
#[derive(Debug, Default)]
pub(super) struct ServerAnswers {
    /// The version that `server/discover` was last asked at.
    asked_at: Option<Revision>,
    discovered: Option<DiscoverResult>,
    initialized: Option<Initialized>,
    /// The unreadable parts of the answers.
    warnings: Vec<ReadWarning>,
}

/// Sends `server/discover` at a version. Neither question is ever cancelled on the wire: one must
/// not be, and a server that does not know the other would not understand the cancellation either.
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
    /// `server/discover` is being asked at this version.
    pub(super) fn asked_at(&mut self, version: Revision) {
        self.asked_at = Some(version);
    }

    /// The meaning of a late answer for the probe.
    ///
    /// # Errors
    /// If nothing else needs to be tried.
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

    /// The unreadable parts of the final answer.
    pub(super) fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// The server, once its revision is known.
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

/// The meaning of a missing answer for the probe.
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
        // Over HTTP it is known which question an answer is for, also if it makes no sense.
        error if link.wire.is_http() => refused(
            probe::ProbeRefusal::NoAnswer,
            error_chain::in_one_line(&error),
        ),
        _ => Event::Garbage,
    })
}

/// streamable-http: a modern server answers a method that it does not know with a 404 and an error
/// of the protocol. It should know `server/discover`; where it does not, it is modern all the same.
fn is_modern_refusal(link: &Link, asked: Asked, code: i64) -> bool {
    let is_not_found = link
        .wire
        .http()
        .is_some_and(|http| http.last_status() == 404);
    is_not_found && asked == Asked::Discover && code == METHOD_NOT_FOUND
}

/// The versions that an error names.
fn supported(data: &Value) -> Vec<String> {
    let versions = data.get("supported").and_then(Value::as_array);
    versions
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
