//! Replays a recording against a server: sends each request again, and compares the answers.

use std::collections::HashMap;

use serde_json::{Value, json, value::RawValue};
use turnbuckle::Answers;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
};

use super::Replay;
use crate::{
    recording::{Exchange, Recording},
    session::Session,
    show::print,
};

/// Requests that open or maintain a connection.
const OF_CONNECTIONS: [&str; 3] = ["initialize", "server/discover", "subscriptions/listen"];

/// How many differences of one result are shown.
const MAX_SHOWN: usize = 20;

/// The capabilities of the recorded client: a server does not send questions to a client that cannot answer them. The
/// recorded answers are in the requests that follow.
pub(super) fn offer(recording: &Recording) -> Option<Answers> {
    let is_asked =
        |exchange: &Exchange| exchange.answer["result"]["resultType"] == "input_required";
    let answers = Answers::new().forms_by_hand().urls_by_hand();
    let is_any = recording.exchanges.iter().any(is_asked);
    is_any.then(|| answers.samples_by_hand().roots_by_hand())
}

/// Sends every request, in order.
pub(super) async fn run(replay: &Replay, recording: &Recording, session: &Session) -> Outcome {
    let (mut sent, mut differences) = (0, 0);
    // A server only accepts states that it created itself.
    let mut states: HashMap<String, Value> = HashMap::new();
    for exchange in &recording.exchanges {
        if OF_CONNECTIONS.contains(&exchange.method.as_str()) || exchange.answer.is_null() {
            continue;
        }
        sent += 1;
        let now = send(exchange, &states, session).await;
        let then = match exchange.answer.get("result") {
            Some(result) => result.clone(),
            None => json!({"error": exchange.answer["error"]["message"]}),
        };
        if let (Some(old), Some(new)) = (then["requestState"].as_str(), now.get("requestState")) {
            states.insert(old.to_owned(), new.clone());
        }
        // The wording of an error may change.
        let both_failed = now.get("error").is_some() && then.get("error").is_some();
        let (then, now) = (replay.compared(&then), replay.compared(&now));
        if then != now && !both_failed {
            differences += 1;
            replay.show(exchange, &then, &now);
        }
    }
    tell(&format!(
        "{sent} requests, {differences} answered differently"
    ));
    if differences > 0 {
        let text = "the server did not answer as recorded";
        return Err(Failed::new(Code::Tool, text));
    }
    Ok(())
}

async fn send(exchange: &Exchange, states: &HashMap<String, Value>, session: &Session) -> Value {
    let mut params = without_meta(&exchange.params);
    let state = params["requestState"]
        .as_str()
        .and_then(|old| states.get(old));
    if let Some(state) = state.cloned() {
        params["requestState"] = state;
    }
    let params = (!params.is_null())
        .then(|| RawValue::from_string(params.to_string()).ok())
        .flatten();
    let answer = session
        .connection
        .request_raw(exchange.method.clone(), params);
    match answer.await {
        Ok(result) => serde_json::from_str(result.get()).unwrap_or_default(),
        Err(error) => json!({"error": error.to_string()}),
    }
}

impl Replay {
    /// A result without the parts that are different each time.
    fn compared(&self, result: &Value) -> Value {
        let mut result = without_meta(result);
        if let Some(members) = result.as_object_mut() {
            members.shift_remove("requestState");
        }
        for pointer in &self.ignore {
            if let Some(part) = result.pointer_mut(pointer) {
                *part = Value::Null;
            }
        }
        result
    }

    fn show(&self, exchange: &Exchange, then: &Value, now: &Value) {
        let params = without_meta(&exchange.params);
        if self.json {
            let difference = json!({
                "method": exchange.method, "params": params, "then": then, "now": now,
            });
            print(&difference.to_string());
            return;
        }
        let params = if params.is_null() {
            String::new()
        } else {
            params.to_string()
        };
        print(&format!(
            "{} {}",
            Style::Strong.out(&exchange.method),
            params
        ));
        let mut found = Vec::new();
        differences("", then, now, &mut found);
        for (path, then, now) in found.iter().take(MAX_SHOWN) {
            let path = if path.is_empty() { "/" } else { path };
            print(&format!("  {path}"));
            print(&Style::Bad.out(&format!("    - {then}")));
            print(&Style::Good.out(&format!("    + {now}")));
        }
        if found.len() > MAX_SHOWN {
            print(&format!("  and {} more", found.len() - MAX_SHOWN));
        }
    }
}

/// The parts that differ, each with its JSON pointer and both values, or that a value is missing.
fn differences(path: &str, then: &Value, now: &Value, found: &mut Vec<(String, String, String)>) {
    let shown = |value: Option<&Value>| value.map_or("(nothing)".to_owned(), ToString::to_string);
    let mut each = |name: &str, then: Option<&Value>, now: Option<&Value>| {
        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        match (then, now) {
            (Some(then), Some(now)) => differences(&path, then, now, found),
            (then, now) => found.push((path, shown(then), shown(now))),
        }
    };
    match (then, now) {
        (then, now) if then == now => {}
        (Value::Object(old), Value::Object(new)) => {
            for (name, then) in old {
                each(name, Some(then), new.get(name));
            }
            for (name, now) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                each(name, None, Some(now));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for place in 0..old.len().max(new.len()) {
                each(&place.to_string(), old.get(place), new.get(place));
            }
        }
        (then, now) => found.push((path.to_owned(), then.to_string(), now.to_string())),
    }
}

fn without_meta(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        members.shift_remove("_meta");
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_where_they_are() {
        let then = json!({"a": [1, 2], "b": {"c/d": 1}, "same": true});
        let now = json!({"a": [1, 3, 4], "b": {}, "same": true, "new": null});
        let mut found = Vec::new();
        differences("", &then, &now, &mut found);
        let paths: Vec<_> = found.iter().map(|(path, _, _)| path.as_str()).collect();
        assert_eq!(paths, ["/a/1", "/a/2", "/b/c~1d", "/new"]);
        assert_eq!(found[1].1, "(nothing)");
    }
}
