//! Extractors for the client's description of itself and for the URI of a resource.

use super::Extract;
use crate::{Call, ClientInfo, Failure};

impl Extract for ClientInfo {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        if let Some(client) = call
            .origin
            .peer
            .client()
            .filter(|_| !call.origin.revision.is_modern())
        {
            return Ok(client);
        }
        let meta = call.request_meta();
        Ok(Self {
            info: meta
                .client_info
                .and_then(|raw| serde_json::from_str(raw.get()).ok()),
            capabilities: meta
                .client_capabilities
                .and_then(|raw| serde_json::from_str(raw.get()).ok())
                .unwrap_or_default(),
        })
    }
}

/// Extracts the URI that is being read, as the client sent it. Use it in handlers of templates that
/// need the whole URI; the variables are in [`Args`](crate::Args).
#[derive(Clone, Debug)]
pub struct Uri(pub String);

impl Extract for Uri {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.name().to_owned()))
    }
}
