//! A recording: the exchanges of a session, read from a file of NDJSON.

use std::{fs, path::Path};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use turnbuckle::protocol::envelope::{Id, Outline};
use turnbuckle_command_line::failure::{Failed, Outcome};

/// A recording as a list of exchanges.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) exchanges: Vec<Exchange>,
    /// How often each exchange was replayed; the one that was replayed least is used next.
    used: Vec<usize>,
}

/// A request, the messages of the server before its answer, the answer, and the messages after it until the next
/// request.
#[derive(Debug)]
pub(crate) struct Exchange {
    id: Id,
    pub(crate) method: String,
    pub(crate) params: Value,
    before: Vec<Value>,
    /// Null if there is no answer in the recording.
    pub(crate) answer: Value,
    after: Vec<Value>,
}

#[derive(Deserialize)]
struct Written<'l> {
    direction: String,
    #[serde(borrow)]
    message: &'l RawValue,
}

/// The member of `_meta` that names the subscription of a notification.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Recording {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failed::usage(format!("cannot read `{}`: {error}", path.display())))?;
        Self::parse(&text).map_err(|error| {
            Failed::usage(format!("`{}` is not a recording: {error}", path.display()))
                .hint("make one with `turnbuckle record FILE SERVER`")
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let Written { direction, message } = serde_json::from_str(line)?;
            let outline = Outline::of(message.get().as_bytes());
            let message: Value = serde_json::from_str(message.get())?;
            match (direction.as_str(), outline.id(), outline.method()) {
                ("out", Some(id), Some(method)) => exchanges.push(Exchange {
                    id,
                    method: method.into_owned(),
                    params: message["params"].clone(),
                    before: Vec::new(),
                    answer: Value::Null,
                    after: Vec::new(),
                }),
                ("in", Some(id), None) => {
                    let mut open = exchanges.iter_mut().rev();
                    if let Some(exchange) = open.find(|one| one.id == id && one.answer.is_null()) {
                        exchange.answer = message;
                    }
                }
                ("in", _, Some(_)) => {
                    if let Some(exchange) = owner(&mut exchanges, &message) {
                        exchange.hear(message);
                    }
                }
                _ => {}
            }
        }
        let used = vec![0; exchanges.len()];
        Ok(Self { exchanges, used })
    }

    /// The recorded answer to such a request: in the order of the recording, and then from its beginning again.
    pub(crate) fn take(&mut self, method: &str, params: &Value, id: &Id) -> Option<Vec<Value>> {
        // A client of another version sends other data here, and gets the same answer.
        let is_opening = matches!(method, "initialize" | "server/discover");
        let fitting = self.exchanges.iter().enumerate().filter(|(_, exchange)| {
            exchange.method == method && (is_opening || same(&exchange.params, params))
        });
        let (place, exchange) = fitting.min_by_key(|(place, _)| (self.used[*place], *place))?;
        self.used[place] += 1;
        Some(exchange.messages(params, id))
    }
}

/// The exchange that a message of the server belongs to: by its token or its subscription; otherwise the newest
/// exchange without an answer, or the newest of all.
fn owner<'e>(exchanges: &'e mut [Exchange], message: &Value) -> Option<&'e mut Exchange> {
    let token = &message["params"]["progressToken"];
    let subscription = message["params"]["_meta"].get(SUBSCRIPTION);
    let subscription = subscription.and_then(id_of);
    let is_its = |one: &Exchange| {
        (!token.is_null() && one.params["_meta"]["progressToken"] == *token)
            || subscription.as_ref() == Some(&one.id)
    };
    let place = exchanges
        .iter()
        .rposition(is_its)
        .or_else(|| exchanges.iter().rposition(|one| one.answer.is_null()))
        .or_else(|| exchanges.len().checked_sub(1))?;
    exchanges.get_mut(place)
}

impl Exchange {
    fn hear(&mut self, message: Value) {
        if self.answer.is_null() {
            self.before.push(message);
        } else {
            self.after.push(message);
        }
    }

    /// The messages of the server, for a request with another id and token.
    fn messages(&self, params: &Value, id: &Id) -> Vec<Value> {
        let id = json!(id);
        let token = params.pointer("/_meta/progressToken");
        let anew = |message: &Value| {
            let mut message = message.clone();
            let members = &mut message["params"];
            if let (Some(token), true) = (token, members.get("progressToken").is_some()) {
                members["progressToken"] = token.clone();
            }
            if let Some(subscription) = members.pointer_mut("/_meta").and_then(|meta| {
                meta.get_mut(SUBSCRIPTION)
                    .filter(|of| id_of(of).as_ref() == Some(&self.id))
            }) {
                *subscription = id.clone();
            }
            if members.is_null() {
                message
                    .as_object_mut()
                    .map(|all| all.shift_remove("params"));
            }
            message
        };
        let mut messages: Vec<Value> = self.before.iter().map(anew).collect();
        if !self.answer.is_null() {
            let mut answer = self.answer.clone();
            answer["id"] = id.clone();
            messages.push(answer);
        }
        messages.extend(self.after.iter().map(anew));
        messages
    }
}

fn id_of(value: &Value) -> Option<Id> {
    Id::deserialize(value).ok()
}

/// Whether two requests are the same, apart from `_meta`.
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
    use super::*;

    fn recording(lines: &[(&str, Value)]) -> Recording {
        let lines = lines.iter().map(|(direction, message)| {
            json!({"ms": 0, "direction": direction, "message": message}).to_string()
        });
        Recording::parse(&lines.collect::<Vec<_>>().join("\n")).unwrap()
    }

    #[test]
    fn a_request_gets_what_was_recorded_for_its_like() {
        let first = json!({"name": "a", "_meta": {"progressToken": 1}});
        let report = json!({"progressToken": 1, "progress": 1});
        let mut recording = recording(&[
            (
                "out",
                json!({"id": 1, "method": "tools/call", "params": first}),
            ),
            (
                "in",
                json!({"method": "notifications/progress", "params": report}),
            ),
            ("in", json!({"id": 1, "result": {"x": 1}})),
            (
                "out",
                json!({"id": 2, "method": "tools/call", "params": {"name": "a"}}),
            ),
            ("in", json!({"id": 2, "result": {"x": 2}})),
        ]);
        let params = json!({"name": "a", "_meta": {"progressToken": "t"}});
        let first = recording.take("tools/call", &params, &Id::Int(7)).unwrap();
        assert_eq!(first[0]["params"]["progressToken"], "t");
        assert_eq!(first[1], json!({"id": 7, "result": {"x": 1}}));
        let second = recording.take("tools/call", &params, &Id::Int(8)).unwrap();
        assert_eq!(second[0]["result"]["x"], 2);
        // After the last one, from the beginning.
        let third = recording.take("tools/call", &params, &Id::Int(9)).unwrap();
        assert_eq!(third[1]["result"]["x"], 1);
        let other = json!({"name": "b"});
        assert!(recording.take("tools/call", &other, &Id::Int(10)).is_none());
        assert!(Recording::parse("nonsense").is_err());
    }

    #[test]
    fn what_was_said_beside_answers_is_there_too() {
        let changed = json!({"method": "notifications/tools/list_changed",
            "params": {"_meta": {SUBSCRIPTION: 1}}});
        let mut recording = recording(&[
            (
                "out",
                json!({"id": 1, "method": "subscriptions/listen", "params": {}}),
            ),
            (
                "out",
                json!({"id": 2, "method": "tools/call", "params": {}}),
            ),
            ("in", changed),
            (
                "in",
                json!({"id": "s", "method": "elicitation/create", "params": {}}),
            ),
            ("in", json!({"id": 2, "result": {}})),
        ]);
        let heard = recording
            .take("subscriptions/listen", &json!({}), &Id::from("new"))
            .unwrap();
        assert_eq!(
            heard.len(),
            1,
            "a subscription has no answer while it goes on"
        );
        assert_eq!(heard[0]["params"]["_meta"][SUBSCRIPTION], "new");
        let called = recording
            .take("tools/call", &json!({}), &Id::Int(5))
            .unwrap();
        assert_eq!(called[0]["method"], "elicitation/create");
        assert_eq!(called[1]["id"], 5);
    }
}
