//! The protocol's rules for tool calls and results in a sampling conversation.

use std::collections::BTreeSet;

use turnbuckle_protocol::{Role, SamplingContent, SamplingMessage};

/// Checks that each message with calls is followed by a message with all their results and nothing else.
///
/// Returns the number of rounds of tool calls.
pub(super) fn rounds(messages: &[SamplingMessage]) -> Result<usize, String> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut rounds = 0;
    for (index, message) in messages.iter().enumerate() {
        let results = results(message);
        if !results.is_empty() {
            // sampling: a message with tool results contains nothing else.
            if message.role != Role::User || results.len() != message.content.len() {
                return Err(format!(
                    "message {index} has tool results and other content; a user message with tool \
                     results must hold only tool results"
                ));
            }
            let given: BTreeSet<_> = results.into_iter().collect();
            if let Some(unknown) = given.difference(&open).next() {
                return Err(format!(
                    "message {index} has a result for `{unknown}`, which the message before does \
                     not call"
                ));
            }
            open.retain(|id| !given.contains(id));
        }
        // sampling: every call has its result in the very next message.
        if let Some(missing) = open.first() {
            return Err(format!(
                "message {index} has no result for tool call `{missing}`"
            ));
        }
        open = calls(message);
        if !open.is_empty() {
            if message.role != Role::Assistant {
                return Err(format!("message {index} of the user calls a tool"));
            }
            rounds += 1;
        }
    }
    match open.first() {
        Some(missing) => Err(format!("tool call `{missing}` has no result")),
        None => Ok(rounds),
    }
}

fn results(message: &SamplingMessage) -> Vec<&str> {
    let results = message.content.iter().filter_map(|content| match content {
        SamplingContent::ToolResult(result) => Some(result.tool_use_id.as_str()),
        _ => None,
    });
    results.collect()
}

fn calls(message: &SamplingMessage) -> BTreeSet<&str> {
    let calls = message.content.iter().filter_map(|content| match content {
        SamplingContent::ToolUse(call) => Some(call.id.as_str()),
        _ => None,
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(messages: &serde_json::Value) -> Result<usize, String> {
        let messages: Vec<SamplingMessage> = serde_json::from_value(messages.clone()).unwrap();
        rounds(&messages)
    }

    // rule: Q4
    #[test]
    fn every_call_has_its_result_in_the_next_message() {
        let text = |role: &str| json!({"role": role, "content": {"type": "text", "text": "x"}});
        let call = |ids: &[&str]| {
            let calls: Vec<_> = ids
                .iter()
                .map(|id| json!({"type": "tool_use", "id": id, "name": "t", "input": {}}))
                .collect();
            json!({"role": "assistant", "content": calls})
        };
        let result = |id: &str| json!({"type": "tool_result", "toolUseId": id, "content": []});
        let results = |ids: &[&str]| {
            let results: Vec<_> = ids.iter().map(|id| result(id)).collect();
            json!({"role": "user", "content": results})
        };
        let user = text("user");
        let good = json!([
            user,
            call(&["a", "b"]),
            results(&["b", "a"]),
            text("assistant")
        ]);
        assert_eq!(check(&good), Ok(1));
        let mixed =
            json!({"role": "user", "content": [result("a"), {"type": "text", "text": "x"}]});
        for (bad, said) in [
            (
                json!([user, call(&["a", "b"]), results(&["a"])]),
                "no result for tool call `b`",
            ),
            (
                json!([user, call(&["a"]), user]),
                "no result for tool call `a`",
            ),
            (json!([user, call(&["a"])]), "tool call `a` has no result"),
            (
                json!([user, results(&["a"])]),
                "which the message before does not call",
            ),
            (
                json!([user, call(&["a"]), mixed]),
                "must hold only tool results",
            ),
        ] {
            let error = check(&bad).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
