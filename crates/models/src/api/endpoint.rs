//! The URL of an API, its key, and the settings of requests.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use turnbuckle_transport::http::client::{
    Address, Agent, AgentSettings, HeaderMap, HeaderName, HeaderValue, HttpError, Reply,
};

use super::key::ApiKey;
use super::refusal;
use crate::error::ModelError;
use crate::model::Delta;

/// 5 min without a byte. A local model may have to be loaded from disk before it writes the first word.
const SILENCE: Duration = Duration::from_mins(5);

/// 2 more attempts, like the official clients of the APIs.
const RETRIES: u32 = 2;

/// 60 s: if an API asks to wait longer than this, the request is not retried.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// 500 ms before the second attempt if the API names no time, and twice as long before the third.
const BACK_OFF: Duration = Duration::from_millis(500);

/// Settings for requests to a model API: proxies, time limits, retries.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    agent: AgentSettings,
    silence: Duration,
    retries: u32,
    back_off: Duration,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            agent: AgentSettings::new(),
            silence: SILENCE,
            retries: RETRIES,
            back_off: BACK_OFF,
        }
    }
}

impl ApiSettings {
    /// Makes the default settings: 5 minutes for each part of an answer, and two more attempts if
    /// the API is busy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the proxies and certificates for connecting to the API.
    pub fn with_agent(mut self, agent: AgentSettings) -> Self {
        self.agent = agent;
        self
    }

    /// Sets how long to wait for each part of an answer. Defaults to 5 minutes. If nothing arrives
    /// in this time, the request fails with [`ModelError::Silent`].
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets how many more attempts are made if the API is busy. Defaults to 2; 0 disables retries.
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the pause before the second attempt, if the API names no time. It doubles with each
    /// further attempt.
    pub fn with_back_off(mut self, back_off: Duration) -> Self {
        self.back_off = back_off;
        self
    }
}

/// The URL for requests. The path is inserted before the query of the base URL, and not repeated if
/// the base URL already ends with it, because people often copy the full URL.
fn url(base: &str, path: &str) -> String {
    let (place, query) = base.split_at(base.find('?').unwrap_or(base.len()));
    let place = place.trim_end_matches('/');
    let whole = format!("/{path}");
    let place = place.strip_suffix(whole.as_str()).unwrap_or(place);
    let place = match path.split_once('/') {
        Some(("v1", _)) => place.strip_suffix("/v1").unwrap_or(place),
        _ => place,
    };
    format!("{}/{path}{query}", place.trim_end_matches('/'))
}

/// Removes the user and the query from a URL, for messages.
fn without_secrets(url: &str) -> String {
    let place = url.split(['?', '#']).next().unwrap_or(url);
    let (scheme, rest) = match place.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), place),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}{host}{path}")
}

/// How a key is sent.
#[derive(Clone, Copy)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// A header that contains only the key.
    Named(&'static str),
}

/// The URL of an API, with its key.
pub(super) struct Endpoint {
    agent: Agent,
    address: Address,
    headers: HeaderMap,
    key: Option<ApiKey>,
    settings: ApiSettings,
}

impl Endpoint {
    pub(super) fn open(
        base: &str,
        path: &str,
        key: Option<(ApiKey, KeyHeader)>,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        let failed = |source: HttpError| ModelError::Http {
            api: without_secrets(base),
            source: Box::new(source),
        };
        let address = Address::parse(&url(base, path)).map_err(|error| failed(error.into()))?;
        let mut headers = HeaderMap::new();
        if let Some((key, header)) = &key {
            if !address.is_https() && !address.is_loopback() {
                let api = address.to_string();
                return Err(ModelError::PlainHttp { api });
            }
            let (name, value) = match header {
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                KeyHeader::Named(name) => (*name, key.expose().to_owned()),
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                failed(HttpError::Header {
                    name: name.to_owned(),
                    reason: "its value has characters that a header cannot carry",
                })
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let agent = settings.agent.agent(&address).map_err(failed)?;
        let key = key.map(|(key, _)| key);
        Ok(Self {
            agent,
            address,
            headers,
            key,
            settings,
        })
    }

    pub(super) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let (name, value) = (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
        self.headers.insert(name, value);
        self
    }

    /// The name of the API for messages: its URL without a query.
    pub(super) fn name(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// A text of the API, with the key masked.
    pub(super) fn masked(&self, text: &str) -> String {
        match &self.key {
            Some(key) => key.masked(text),
            None => text.to_owned(),
        }
    }

    pub(super) fn silence(&self) -> Duration {
        self.settings.silence
    }

    pub(super) fn failed(&self, source: HttpError) -> ModelError {
        ModelError::Http {
            api: self.name(),
            source: Box::new(source),
        }
    }

    /// Sends a request, and repeats it after a pause if the API is busy.
    pub(super) async fn send(
        &self,
        model: &str,
        body: &Value,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let body = Bytes::from(body.to_string());
        let mut attempt = 0;
        loop {
            let error = match self.attempt(model, body.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let back_off = self.settings.back_off.saturating_mul(1 << attempt.min(6));
            let pause = error.retry_after().unwrap_or(back_off);
            if attempt >= self.settings.retries || !error.is_transient() || pause > MAX_WAIT {
                return Err(error);
            }
            attempt += 1;
            let reason = error.to_string();
            tracing::info!(%reason, ?pause, "trying a model API again");
            report(Delta::Waiting {
                time: pause,
                reason: &reason,
            });
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, model: &str, body: Bytes) -> Result<Reply, ModelError> {
        let sent = Box::pin(self.agent.post(&self.address, self.headers.clone(), body));
        let limit = self.settings.silence;
        let Ok(reply) = tokio::time::timeout(limit, sent).await else {
            let api = self.name();
            return Err(ModelError::Silent { api, limit });
        };
        let reply = reply.map_err(|error| self.failed(error))?;
        if reply.status().is_success() {
            return Ok(reply);
        }
        Err(refusal::read(self, model, reply).await)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_added_once_and_before_the_query() {
        let chat = "chat/completions";
        for (base, path, wanted) in [
            ("http://h/v1", chat, "http://h/v1/chat/completions"),
            ("http://h/v1/", chat, "http://h/v1/chat/completions"),
            (
                "http://h/v1/chat/completions",
                chat,
                "http://h/v1/chat/completions",
            ),
            (
                "http://h/v1/chat/completions/",
                chat,
                "http://h/v1/chat/completions",
            ),
            (
                "http://h/o?api-version=1",
                chat,
                "http://h/o/chat/completions?api-version=1",
            ),
            ("http://h", "v1/messages", "http://h/v1/messages"),
            ("http://h/v1", "v1/messages", "http://h/v1/messages"),
            (
                "http://h/v1/messages",
                "v1/messages",
                "http://h/v1/messages",
            ),
            (
                "http://h/a/v1/messages",
                "v1/messages",
                "http://h/a/v1/messages",
            ),
        ] {
            assert_eq!(url(base, path), wanted, "{base}");
        }
    }

    #[test]
    fn messages_have_no_secrets_of_a_url() {
        for (url, shown) in [
            ("http://u:SECRET@h/v1", "http://h/v1"),
            ("u:SECRET@h/v1", "h/v1"),
            ("https://h/v1?key=SECRET#x", "https://h/v1"),
            ("https://h/a@b", "https://h/a@b"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
