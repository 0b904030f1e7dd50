//! The two questions that open a connection, and their answers as events of the search.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use turnbuckle_protocol::{
    DiscoverResult, Implementation, InitializeRequestParams, Meta, Revision, ServerCapabilities,
    revision::Raise,
};
use turnbuckle_session::{
    probe::{Asked, Event},
    requests::Deadline,
};

use super::target::BoxFuture;
use crate::{
    CallError, Peer,
    link::{Link, OnDrop, Outgoing},
};

/// An answer on its way.
pub(super) type Answer = BoxFuture<'static, Result<Box<RawValue>, CallError>>;

/// What the server has said about itself so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    discovered: Option<DiscoverResult>,
    initialized: Option<Initialized>,
}

/// The answer to `initialize`, as much of it as is needed: servers that leave out the rest are
/// met in the wild, and nothing is gained by turning them away.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    #[serde(default)]
    capabilities: ServerCapabilities,
    server_info: Option<Implementation>,
    instructions: Option<String>,
}

/// Sends `server/discover` at a version. Neither question is ever cancelled on the wire: one must
/// not be, and for a server that does not know the other a cancellation would be one riddle more.
pub(super) fn discover(link: &Arc<Link>, version: Revision) -> Answer {
    let link = link.clone();
    Box::pin(async move {
        link.stamp_with(version, None);
        let outgoing = Outgoing {
            method: "server/discover",
            meta: None,
            progress: false,
        };
        let request = link.prepare(&outgoing, Deadline::never(), OnDrop::Silence, &())?;
        request.answer(None).await
    })
}

/// Sends `initialize` at a version.
pub(super) fn initialize(link: &Arc<Link>, version: Revision) -> Answer {
    let link = link.clone();
    Box::pin(async move {
        link.stamp_with(version, None);
        let profile = &link.profile;
        let params = InitializeRequestParams::new(
            version,
            profile.capabilities(version),
            profile.identity(version),
        );
        let outgoing = Outgoing {
            method: "initialize",
            meta: None,
            progress: false,
        };
        let request = link.prepare(&outgoing, Deadline::never(), OnDrop::Silence, &params)?;
        request.answer(None).await
    })
}

impl Heard {
    /// What an answer means to the search.
    pub(super) fn event(
        &mut self,
        asked: Asked,
        answer: Result<Box<RawValue>, CallError>,
    ) -> Event {
        match (asked, answer) {
            (Asked::Discover, Ok(result)) => self.discovered(&result),
            (Asked::Initialize, Ok(result)) => self.initialized(&result),
            (_, Err(CallError::Rejected { error, .. })) => Event::Refused {
                asked,
                code: error.code,
                message: error.message,
                supported: error.data.as_ref().map(supported).unwrap_or_default(),
            },
            (_, Err(CallError::Closed { .. })) => Event::Closed,
            (_, Err(_)) => Event::Garbage,
        }
    }

    fn discovered(&mut self, result: &RawValue) -> Event {
        match serde_json::from_str::<DiscoverResult>(result.get()) {
            Ok(discovered) => {
                let versions = discovered.supported_versions.clone();
                self.discovered = Some(discovered);
                Event::Discovered { versions }
            }
            Err(_) => Event::Garbage,
        }
    }

    fn initialized(&mut self, result: &RawValue) -> Event {
        match serde_json::from_str::<Initialized>(result.get()) {
            Ok(initialized) => {
                let version = initialized.protocol_version.clone();
                self.initialized = Some(initialized);
                Event::Initialized { version }
            }
            Err(_) => Event::Garbage,
        }
    }

    /// Who the server is, now that it is settled what it speaks.
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
