//! A request, its answer, and the messages that came with it.

use std::time::Duration;

use serde_json::Value;
use turnbuckle_command_line::style::elapsed;

use crate::{
    check::Check,
    finding::{Finding, cut},
};

/// How much of a message is shown, in characters.
const MAX_SHOWN: usize = 300;

/// Headers that may explain a problem. Other headers are not shown.
const TELLING: [&str; 10] = [
    "content-type",
    "location",
    "server",
    "www-authenticate",
    "mcp-protocol-version",
    "allow",
    "x-accel-buffering",
    "proxy-authenticate",
    "via",
    "content-encoding",
];

/// A request, its answer, and the messages that came with it.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) sent: Value,
    pub(crate) answer: Answer,
    /// Messages that came before the answer.
    pub(crate) heard: Vec<Value>,
    /// The head of an HTTP answer.
    pub(crate) head: Option<Head>,
    pub(crate) took: Duration,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// A message of JSON-RPC.
    Message(Value),
    /// A body that is not JSON-RPC.
    Other(String),
    /// An empty body, or no answer where none was expected.
    Nothing,
    /// No answer in time.
    Silence,
    /// The connection was closed or the process ended, with the reason.
    Gone(String),
}

/// The status and headers of an HTTP answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The media type, without parameters, in lower case.
    pub(crate) fn media_type(&self) -> String {
        let given = self.header("content-type").unwrap_or_default();
        let given = given.split(';').next().unwrap_or_default();
        given.trim().to_ascii_lowercase()
    }

    pub(crate) fn is_events(&self) -> bool {
        self.media_type() == "text/event-stream"
    }
}

impl Exchange {
    pub(crate) fn method(&self) -> &str {
        self.sent["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn result(&self) -> Option<&Value> {
        match &self.answer {
            Answer::Message(message) => message.get("result"),
            _ => None,
        }
    }

    /// The code of an error; 0 if the error has none.
    pub(crate) fn code(&self) -> Option<i64> {
        let error = self.error()?;
        Some(error["code"].as_i64().unwrap_or_default())
    }

    pub(crate) fn error(&self) -> Option<&Value> {
        match &self.answer {
            Answer::Message(message) => message.get("error"),
            _ => None,
        }
    }

    /// The HTTP status, if there is one.
    pub(crate) fn status(&self) -> Option<u16> {
        self.head.as_ref().map(|head| head.status)
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.answer == Answer::Silence
    }

    /// The answer in a few words: `-32601`, `HTTP 404`, `no answer`.
    pub(crate) fn came(&self) -> String {
        let status = self.status().filter(|status| *status != 200);
        let status = status.map(|status| format!("HTTP {status}"));
        let what = match &self.answer {
            Answer::Message(_) => match self.code() {
                Some(code) => format!("error {code}"),
                None => "a result".to_owned(),
            },
            Answer::Other(_) => "a body that is not JSON-RPC".to_owned(),
            Answer::Nothing if status.is_some() => String::new(),
            Answer::Nothing => "an empty answer".to_owned(),
            Answer::Silence => "no answer in time".to_owned(),
            Answer::Gone(how) => how.clone(),
        };
        match status {
            Some(status) if what.is_empty() => status,
            Some(status) => format!("{status} with {what}"),
            None => what,
        }
    }

    /// A finding with this exchange as its evidence.
    pub(crate) fn finding(&self, check: &'static Check, said: impl Into<String>) -> Finding {
        Finding::of(check, said).seen_all(self.evidence())
    }

    /// A finding that `what` was sent and got a wrong answer.
    pub(crate) fn unexpected(&self, check: &'static Check, what: &str) -> Finding {
        self.finding(check, format!("{what} is answered with {}", self.came()))
    }

    /// The request and the answer, as lines of evidence.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let mut lines = vec![format!("→ {}", cut(&self.sent.to_string(), MAX_SHOWN))];
        if let Some(head) = &self.head {
            let mut line = format!("← HTTP {}", head.status);
            for (name, value) in &head.headers {
                if TELLING.contains(&name.as_str()) {
                    line.extend(["  ", name, ": ", &cut(value, MAX_SHOWN)]);
                }
            }
            lines.push(line);
        }
        match &self.answer {
            Answer::Message(message) => {
                lines.push(format!("← {}", cut(&message.to_string(), MAX_SHOWN)));
            }
            Answer::Other(body) => lines.push(format!("← {}", cut(body.trim(), MAX_SHOWN))),
            Answer::Nothing => {}
            Answer::Silence => lines.push(format!("← nothing within {}", elapsed(self.took))),
            Answer::Gone(how) => lines.push(format!("← {how}")),
        }
        lines
    }
}
