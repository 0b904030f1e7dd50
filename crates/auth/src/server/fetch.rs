//! Requests to issuers over TLS, with limits on time and size.

use std::{sync::OnceLock, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use turnbuckle_base::error_chain::in_one_line;
use turnbuckle_transport::http::client::{Address, Agent, AgentSettings, HttpError};

/// 10 s for a request and its response. Clients of the server wait meanwhile.
const DEADLINE: Duration = Duration::from_secs(10);

/// 256 KiB: the largest key sets have a tenth of this size.
const MAX_BYTES: usize = 256 * 1024;

/// Sends requests to one issuer.
#[derive(Debug)]
pub(super) struct IssuerFetcher {
    settings: AgentSettings,
    plain: Plain,
    agents: [OnceLock<Agent>; 2],
}

/// Whether an issuer may be asked without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// Only on this machine.
    Loopback,
    /// Anywhere, in a network that is trusted.
    Anywhere,
}

impl IssuerFetcher {
    pub(super) fn new(settings: AgentSettings, plain: Plain) -> Self {
        // Credentials are meant for this issuer only, so redirects are not followed.
        let settings = settings.without_redirects();
        let agents = Default::default();
        Self {
            settings,
            plain,
            agents,
        }
    }

    /// Fetches a JSON document.
    pub(super) async fn document(&self, address: &Address) -> Result<Value, Unread> {
        self.ask(Method::GET, address, HeaderMap::new(), Bytes::new())
            .await
    }

    /// Sends a form and parses the JSON response.
    pub(super) async fn form(
        &self,
        address: &Address,
        mut headers: HeaderMap,
        form: String,
    ) -> Result<Value, Unread> {
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(header::CONTENT_TYPE, kind);
        self.ask(Method::POST, address, headers, form.into()).await
    }

    async fn ask(
        &self,
        method: Method,
        address: &Address,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Value, Unread> {
        let agent = self.agent(address)?;
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::ACCEPT, json);
        let asked = async {
            let reply = agent.send(method, address, headers, body).await?;
            let status = reply.status();
            Ok::<_, HttpError>((status, reply.bytes(MAX_BYTES).await?))
        };
        let Ok(answer) = tokio::time::timeout(DEADLINE, asked).await else {
            return Err(Unread::because(
                address,
                &format!("no answer within {DEADLINE:?}"),
            ));
        };
        match answer {
            Ok((StatusCode::OK, body)) => serde_json::from_slice(&body).map_err(|error| {
                Unread::because(address, &format!("the response is not JSON: {error}"))
            }),
            Ok((status, _)) => Err(Unread {
                status: Some(status),
                ..Unread::because(address, &format!("status {status}"))
            }),
            Err(error) => Err(Unread::because(address, &in_one_line(&error))),
        }
    }

    fn agent(&self, address: &Address) -> Result<&Agent, Unread> {
        if !self.allows(address) {
            let reason = "tokens are not safe without TLS: use `https`, or `allow_http`";
            return Err(Unread::because(address, reason));
        }
        let slot = &self.agents[usize::from(address.is_https())];
        if let Some(agent) = slot.get() {
            return Ok(agent);
        }
        let agent = self.settings.agent(address);
        let agent = agent.map_err(|error| Unread::because(address, &in_one_line(&error)))?;
        Ok(slot.get_or_init(|| agent))
    }

    /// security-considerations, "Communication Security": endpoints of authorization servers MUST
    /// be served over HTTPS. Plain `http` to this machine is allowed for development.
    pub(super) fn allows(&self, address: &Address) -> bool {
        address.is_https() || self.plain == Plain::Anywhere || address.is_loopback()
    }
}

/// The error for a document that could not be read, with the reason.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    pub(super) status: Option<StatusCode>,
    pub(super) reason: String,
}

impl Unread {
    fn because(address: &Address, reason: &str) -> Self {
        Self {
            status: None,
            reason: format!("{address}: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_without_tls() {
        let allows = |plain, text| {
            let fetcher = IssuerFetcher::new(AgentSettings::new(), plain);
            fetcher.allows(&Address::parse(text).unwrap())
        };
        for fine in ["https://a.example", "http://127.0.0.1:1", "http://[::1]/x"] {
            assert!(allows(Plain::Loopback, fine), "{fine}");
        }
        for bad in [
            "http://a.example",
            "http://localhost.a.example",
            "http://10.0.0.1",
        ] {
            assert!(!allows(Plain::Loopback, bad), "{bad}");
            assert!(allows(Plain::Anywhere, bad), "{bad}");
        }
    }
}
