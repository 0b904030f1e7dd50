//! A recording: the exchanges of a session, from a file of NDJSON.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Failed, Outcome};

/// What was recorded, exchange by exchange.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) exchanges: Vec<Exchange>,
    /// How often each exchange was replayed; the one that was replayed least is next.
    used: Vec<usize>,
}

/// A request, the notifications until its answer, and the answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) method: String,
    pub(crate) params: Value,
    notifications: Vec<Value>,
    pub(crate) answer: Value,
}

#[derive(Deserialize)]
struct Written {
    direction: String,
    message: Value,
}

impl Recording {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failed::usage(format!("cannot read `{}`: {error}", path.display())))?;
        Self::parse(&text).map_err(|error| {
            Failed::usage(format!("`{}` is no recording: {error}", path.display()))
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut exchanges = Vec::new();
        let mut open: BTreeMap<String, (String, Value, Vec<Value>)> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let Written { direction, message } = serde_json::from_str(line)?;
            let id = message.get("id").map(ToString::to_string);
            let method = message["method"].as_str().map(str::to_owned);
            match (direction.as_str(), id, method) {
                ("out", Some(id), Some(method)) => {
                    open.insert(id, (method, message["params"].clone(), Vec::new()));
                }
                ("in", Some(id), None) => {
                    if let Some((method, params, notifications)) = open.remove(&id) {
                        exchanges.push(Exchange {
                            method,
                            params,
                            notifications,
                            answer: message,
                        });
                    }
                }
                ("in", None, Some(_)) => {
                    // Nothing says whose a notification is: it goes with what is open.
                    if let Some((_, _, notifications)) = open.values_mut().last() {
                        notifications.push(message);
                    }
                }
                _ => {}
            }
        }
        let used = vec![0; exchanges.len()];
        Ok(Self { exchanges, used })
    }

    /// What was answered to such a request: in the order of the recording, and then again.
    pub(crate) fn take(&mut self, method: &str, params: &Value) -> Option<Vec<Value>> {
        // A client of another version introduces itself otherwise, and is answered the same.
        let is_opening = matches!(method, "initialize" | "server/discover");
        let fitting = self.exchanges.iter().enumerate().filter(|(_, exchange)| {
            exchange.method == method && (is_opening || same(&exchange.params, params))
        });
        let (place, exchange) = fitting.min_by_key(|(place, _)| (self.used[*place], *place))?;
        self.used[place] += 1;
        let token = params.pointer("/_meta/progressToken");
        let messages = exchange.notifications.iter().cloned().map(|mut message| {
            if let (Some(token), true) = (token, message["method"] == "notifications/progress") {
                message["params"]["progressToken"] = token.clone();
            }
            message
        });
        Some(messages.chain([exchange.answer.clone()]).collect())
    }
}

/// Whether two requests ask the same; what is in `_meta` aside.
fn same(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| {
        let mut members = value.as_object().cloned().unwrap_or_default();
        members.shift_remove("_meta");
        members
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_gets_what_was_recorded_for_its_like() {
        let lines = [
            json!({"ms": 0, "direction": "out", "message":
                {"id": 1, "method": "tools/call", "params": {"name": "a", "_meta": {"progressToken": 1}}}}),
            json!({"ms": 1, "direction": "in", "message":
                {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}}),
            json!({"ms": 1, "direction": "in", "message": {"id": 1, "result": {"x": 1}}}),
            json!({"ms": 2, "direction": "out", "message":
                {"id": 2, "method": "tools/call", "params": {"name": "a"}}}),
            json!({"ms": 3, "direction": "in", "message": {"id": 2, "result": {"x": 2}}}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let mut recording = Recording::parse(&text).unwrap();
        let params = json!({"name": "a", "_meta": {"progressToken": "t"}});
        let first = recording.take("tools/call", &params).unwrap();
        assert_eq!(first[0]["params"]["progressToken"], "t");
        assert_eq!(first[1]["result"]["x"], 1);
        let second = recording.take("tools/call", &params).unwrap();
        assert_eq!(second[0]["result"]["x"], 2);
        // Then from the beginning.
        assert_eq!(
            recording.take("tools/call", &params).unwrap()[1]["result"]["x"],
            1
        );
        assert!(
            recording
                .take("tools/call", &json!({"name": "b"}))
                .is_none()
        );
        assert!(Recording::parse("nonsense").is_err());
    }
}
