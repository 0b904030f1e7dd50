//! Exports the HTTP requests as an HTTP archive (HAR 1.2), which browsers and proxies can open.
//!
//! The content of an answer is its messages, one in each line, without the framing of the stream.

use std::collections::HashMap;

use serde::Serialize;
use turnbuckle::store::task::timestamp;

use super::{
    export::{Which, is_secret, redacted},
    inspector::Inspector,
    wire::{HttpHead, Shown},
};

/// The value for something unknown.
const UNKNOWN: i32 = -1;

#[derive(Serialize)]
struct Archive {
    log: Log,
}

#[derive(Serialize)]
struct Log {
    version: &'static str,
    creator: Creator,
    entries: Vec<ArchiveEntry>,
}

#[derive(Serialize)]
struct Creator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArchiveEntry {
    started_date_time: String,
    time: f64,
    request: Sent,
    response: Received,
    cache: Empty,
    timings: Timings,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    method: String,
    url: String,
    http_version: &'static str,
    cookies: [Empty; 0],
    headers: Vec<Named>,
    query_string: Vec<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<Body>,
    headers_size: i32,
    body_size: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    status: u16,
    status_text: &'static str,
    http_version: &'static str,
    cookies: [Empty; 0],
    headers: Vec<Named>,
    content: Content,
    #[serde(rename = "redirectURL")]
    redirect_url: &'static str,
    headers_size: i32,
    body_size: i32,
}

#[derive(Serialize)]
struct Named {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    mime_type: &'static str,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    size: usize,
    mime_type: String,
    text: String,
}

#[derive(Serialize)]
struct Timings {
    send: f64,
    wait: f64,
    receive: f64,
}

impl Inspector {
    /// The stored HTTP requests, with secrets redacted.
    pub(super) fn har(&self, which: &Which) -> Vec<u8> {
        let mut entries: Vec<ArchiveEntry> = Vec::new();
        // The entries that wait for an answer, by server and id.
        let mut waiting: HashMap<(String, String), usize> = HashMap::new();
        self.wire.each(|shown, message, head| {
            if !which.has(shown) {
                return;
            }
            let id = shown.id.as_ref().map(|id| id.text().to_owned());
            let key = id.map(|id| (shown.server.clone(), id));
            if let Some(head) = head {
                if let Some(key) = key.filter(|_| shown.kind == "request") {
                    waiting.insert(key, entries.len());
                }
                entries.push(ArchiveEntry::of(shown, message, head));
            } else if let (Some(key), Some(message)) = (key, message)
                && shown.kind == "response"
                && shown.direction == "in"
                && let Some(entry) = waiting.remove(&key).and_then(|at| entries.get_mut(at))
            {
                entry.answered(shown, message);
            }
        });
        let creator = Creator {
            name: "turnbuckle",
            version: env!("CARGO_PKG_VERSION"),
        };
        let log = Log {
            version: "1.2",
            creator,
            entries,
        };
        serde_json::to_vec(&Archive { log }).unwrap_or_default()
    }
}

impl ArchiveEntry {
    fn of(shown: &Shown, message: Option<&[u8]>, head: &HttpHead) -> Self {
        let wait = head.first_byte_ms.unwrap_or_default();
        let (url, query_string) = address(&head.url);
        let kind = head
            .response_headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map_or_else(|| "x-unknown".to_owned(), |(_, value)| value.clone());
        Self {
            started_date_time: moment(shown.time),
            time: wait,
            request: Sent {
                method: head.method.clone(),
                url,
                http_version: "unknown",
                cookies: [],
                headers: named(&head.request_headers),
                query_string,
                post_data: message.map(|message| Body {
                    mime_type: "application/json",
                    text: redacted(message).text().to_owned(),
                }),
                headers_size: UNKNOWN,
                body_size: shown.bytes,
            },
            response: Received {
                // Zero means that the request was not answered.
                status: head.status.unwrap_or_default(),
                status_text: head
                    .status
                    .and_then(|status| http::StatusCode::from_u16(status).ok()?.canonical_reason())
                    .unwrap_or_default(),
                http_version: "unknown",
                cookies: [],
                headers: named(&head.response_headers),
                content: Content {
                    size: 0,
                    mime_type: kind,
                    text: String::new(),
                },
                redirect_url: "",
                headers_size: UNKNOWN,
                body_size: UNKNOWN,
            },
            cache: Empty {},
            timings: Timings {
                send: 0.0,
                wait,
                receive: 0.0,
            },
        }
    }

    fn answered(&mut self, shown: &Shown, message: &[u8]) {
        let whole = shown.ms.unwrap_or(self.time).max(self.time);
        self.timings.receive = whole - self.timings.wait;
        self.time = whole;
        let content = &mut self.response.content;
        content.size = message.len();
        redacted(message).text().clone_into(&mut content.text);
    }
}

fn named(headers: &[(String, String)]) -> Vec<Named> {
    let headers = headers.iter().cloned();
    headers.map(|(name, value)| Named { name, value }).collect()
}

/// A URL and its query parameters, without a password and without values whose names mark them as secrets.
fn address(url: &str) -> (String, Vec<Named>) {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query: Vec<Named> = pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = if is_secret(name) { "[redacted]" } else { value };
            Named {
                name: name.to_owned(),
                value: value.to_owned(),
            }
        })
        .collect();
    let mut shown = match base.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => base.to_owned(),
    };
    for (at, Named { name, value }) in query.iter().enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        shown.extend([name.as_str(), "=", value.as_str()]);
    }
    (shown, query)
}

/// A time as ISO 8601.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds since 1970 are positive and far below 2^53"
)]
fn moment(time: f64) -> String {
    timestamp(time as u64)
}

#[cfg(test)]
mod tests {
    use turnbuckle::client::Direction;

    use super::*;

    #[test]
    fn a_request_and_its_answer_are_one_entry_without_secrets() {
        let inspector = Inspector::new(turnbuckle_command_line::target::Options::default());
        let sent = br#"{"id":7,"method":"tools/call","params":{"name":"x","arguments":{"password":"hush"}}}"#;
        inspector.wire.message("s1", Direction::Out, sent);
        let head = HttpHead {
            method: "POST".to_owned(),
            url: "https://me:hush@example.com/mcp?api_key=hush&n=1".to_owned(),
            status: None,
            request_headers: vec![("accept".to_owned(), "*/*".to_owned())],
            response_headers: Vec::new(),
            first_byte_ms: None,
        };
        let seq = inspector.wire.departs("s1", head, sent);
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        inspector.wire.arrives(seq, 200, headers, 3.0);
        let answer = br#"{"id":7,"result":{"n":1.10}}"#;
        inspector.wire.message("s1", Direction::In, answer);
        inspector.wire.message("s2", Direction::In, answer);

        let text = String::from_utf8(inspector.har(&Which::default())).unwrap();
        assert!(!text.contains("hush"), "{text}");
        let archive: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entries = archive["log"]["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 1);
        let (request, response) = (&entries[0]["request"], &entries[0]["response"]);
        assert_eq!(
            request["url"],
            "https://example.com/mcp?api_key=[redacted]&n=1"
        );
        assert_eq!(response["status"], 200);
        assert_eq!(
            response["content"]["text"],
            r#"{"id":7,"result":{"n":1.10}}"#
        );
        assert_eq!(archive["log"]["version"], "1.2");
    }
}
