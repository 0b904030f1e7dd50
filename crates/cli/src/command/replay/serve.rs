//! Replays a recording as a server.

use std::{
    borrow::Cow,
    collections::VecDeque,
    io::{BufRead, Write},
};

use serde_json::{Value, json};
use turnbuckle::protocol::envelope::{Id, Outline};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

use crate::recording::Recording;

/// How many requests may wait while an answer of the client is awaited. No recorded client sends more
/// without answering.
const MAX_WAITING: usize = 1024;

pub(super) fn run(recording: Recording) -> Outcome {
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    Player {
        recording,
        input: input.lines(),
        output,
        waiting: VecDeque::new(),
    }
    .play()
}

/// Answers requests from the recording.
struct Player<R, W> {
    recording: Recording,
    input: std::io::Lines<R>,
    output: W,
    /// Messages that arrived while another one was awaited.
    waiting: VecDeque<Heard>,
}

/// A message of the client.
struct Heard {
    id: Option<Id>,
    method: Option<String>,
    params: Value,
}

impl Heard {
    fn parse(line: &str) -> Self {
        let outline = Outline::of(line.as_bytes());
        let params = outline.params.and_then(|params| params.parse().ok());
        Self {
            id: outline.id(),
            method: outline.method().map(Cow::into_owned),
            params: params.unwrap_or_default(),
        }
    }
}

impl<R: BufRead, W: Write> Player<R, W> {
    fn play(&mut self) -> Outcome {
        while let Some(message) = self.next()? {
            let (Some(id), Some(method)) = (&message.id, &message.method) else {
                continue;
            };
            let found = self.recording.take(method, &message.params, id);
            let messages = found.unwrap_or_else(|| {
                let reason = format!("the recording has no answer to this `{method}`");
                let error = json!({"code": -32_601, "message": reason});
                vec![json!({"jsonrpc": "2.0", "id": id, "error": error})]
            });
            for message in messages {
                let line = message.to_string();
                if writeln!(self.output, "{line}").is_err() {
                    return Ok(());
                }
                let _ = self.output.flush();
                // A question of the server: the following messages were sent after the client's answer.
                let outline = Outline::of(line.as_bytes());
                if let (Some(id), Some(_)) = (outline.id(), outline.method()) {
                    self.await_answer(&id)?;
                }
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Outcome<Option<Heard>> {
        match self.waiting.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.read(),
        }
    }

    fn read(&mut self) -> Outcome<Option<Heard>> {
        for line in self.input.by_ref() {
            let line = line.map_err(|error| Failed::new(Code::Connect, error))?;
            if !line.trim().is_empty() {
                return Ok(Some(Heard::parse(&line)));
            }
        }
        Ok(None)
    }

    /// Waits for the client to answer a question; other messages are kept for later.
    fn await_answer(&mut self, id: &Id) -> Outcome {
        while let Some(message) = self.read()? {
            if message.id.as_ref() == Some(id) && message.method.is_none() {
                return Ok(());
            }
            if self.waiting.len() < MAX_WAITING {
                self.waiting.push_back(message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(recorded: &[Value], lines: &[Value]) -> Vec<Value> {
        let recorded = recorded.iter().map(ToString::to_string);
        let recording = Recording::parse(&recorded.collect::<Vec<_>>().join("\n")).unwrap();
        let lines = lines.iter().map(ToString::to_string);
        let input = lines.collect::<Vec<_>>().join("\n");
        let mut player = Player {
            recording,
            input: input.as_bytes().lines(),
            output: Vec::new(),
            waiting: VecDeque::new(),
        };
        player.play().unwrap();
        let said = String::from_utf8(player.output).unwrap();
        let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    #[test]
    fn a_question_is_answered_before_the_result_comes() {
        let line =
            |direction: &str, message: Value| json!({"direction": direction, "message": message});
        let recorded = [
            line(
                "out",
                json!({"id": 1, "method": "tools/call", "params": {}}),
            ),
            line(
                "in",
                json!({"id": 9, "method": "elicitation/create", "params": {}}),
            ),
            line("out", json!({"id": 9, "result": {"action": "decline"}})),
            line("in", json!({"id": 1, "result": {"content": []}})),
            line("out", json!({"id": 2, "method": "ping"})),
            line("in", json!({"id": 2, "result": {}})),
        ];
        let call = json!({"id": "a", "method": "tools/call", "params": {}});
        let ping = json!({"id": "b", "method": "ping"});
        let answer = json!({"id": 9, "result": {"action": "accept"}});
        let said = played(&recorded, &[call.clone(), ping, answer]);
        let ids: Vec<_> = said.iter().map(|message| message["id"].clone()).collect();
        assert_eq!(ids, [json!(9), json!("a"), json!("b")]);
        // Without an answer, no further messages are sent.
        assert_eq!(played(&recorded, &[call]).len(), 2);
    }

    #[test]
    fn what_was_not_recorded_is_an_error() {
        let said = played(&[], &[json!({"id": 1, "method": "tools/list"})]);
        assert_eq!(said[0]["error"]["code"], -32_601);
    }
}
