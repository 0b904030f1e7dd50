//! `initialize`: opens a session, or a new one after a session has ended.

#[cfg(feature = "http")]
use futures_core::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
#[cfg(feature = "http")]
use turnbuckle_protocol::lenient;
use turnbuckle_protocol::{Implementation, InitializeRequestParams, Revision, ServerCapabilities};
use turnbuckle_session::requests::Deadline;

use super::{Link, OnDrop, Outgoing};
use crate::error::CallError;

/// The members of the answer to `initialize` that are needed. Some servers leave out the others, and
/// refusing such servers would be of no use.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialized {
    pub(crate) protocol_version: String,
    #[serde(default)]
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) server_info: Option<Implementation>,
    pub(crate) instructions: Option<String>,
}

/// Sends `initialize` at a version. lifecycle: it MUST NOT be cancelled.
pub(crate) async fn initialize(link: &Link, version: Revision) -> Result<Box<RawValue>, CallError> {
    link.announce(version, None);
    let profile = link.profile();
    let params = InitializeRequestParams::new(
        version,
        profile.capabilities(version),
        profile.identity(version),
    );
    let outgoing = Outgoing::plain("initialize");
    let request = link.prepare(&outgoing, Deadline::never(), OnDrop::Silence, &params)?;
    request.answer(None).await
}

/// Opens another session with the server of this connection. Its revision must not change.
#[cfg(feature = "http")]
pub(super) fn initialize_again(link: &Link) -> BoxFuture<'_, Result<(), CallError>> {
    Box::pin(async move {
        let version = link.revision();
        let within = link.profile().settings.handshake_timeout;
        let asked = link.pending.within(within, initialize(link, version));
        let problem = match asked.await {
            None => format!("no answer within {within:?}"),
            Some(answer) => match lenient::read::<Initialized>("initialize", answer?.get()) {
                Ok((it, _)) if it.protocol_version == version.as_str() => return Ok(()),
                Ok((it, _)) => format!("the server now speaks revision `{}`", it.protocol_version),
                Err(error) => error.to_string(),
            },
        };
        let source = serde::de::Error::custom(problem);
        Err(CallError::malformed(
            link.server().clone(),
            "initialize",
            source,
        ))
    })
}
