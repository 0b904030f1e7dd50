//! The output for programs: one line of JSON for each event.

use serde_json::{Value, json};
use turnbuckle::{
    host::{ConfigNote, Problem, ServerId},
    models::{
        Delta,
        agent::{AgentOutcome, Event},
    },
};

use super::unready::Unready;
use crate::show::print;

/// Prints an event.
pub(super) fn show(event: &Event<'_>) {
    if let Some(line) = line(event) {
        print(&line.to_string());
    }
}

/// Prints that a server is not ready.
pub(super) fn unready(server: &Unready) {
    print(&server.event().to_string());
}

/// Prints which servers are still starting.
pub(super) fn starting(servers: &[String]) {
    print(&json!({"event": "starting", "servers": servers}).to_string());
}

/// Prints a note about a config file.
pub(super) fn note(note: &ConfigNote) {
    let server = note.server.as_ref().map(ServerId::as_str);
    let file = note.file.as_ref().map(|file| file.display().to_string());
    let line = json!({"event": "note", "server": server, "file": file, "message": note.text});
    print(&line.to_string());
}

/// Prints a problem with what servers offer.
pub(super) fn problem(problem: &Problem) {
    let server = match problem {
        Problem::Names(collision) => Some(&collision.second.0),
        Problem::Server { server, .. } => Some(server),
        _ => None,
    };
    let server = server.map(ServerId::as_str);
    let line = json!({"event": "note", "server": server, "message": problem.to_string()});
    print(&line.to_string());
}

/// Prints how a run ended.
pub(super) fn end(ended: &AgentOutcome) {
    let line = match ended {
        AgentOutcome::Done(reason) => {
            json!({"event": "end", "reason": "done", "stopReason": reason})
        }
        AgentOutcome::RoundLimit { limit } => {
            json!({"event": "end", "reason": "roundLimit", "limit": limit})
        }
        AgentOutcome::TokenLimit { limit } => {
            json!({"event": "end", "reason": "tokenLimit", "limit": limit})
        }
        _ => json!({"event": "end", "reason": "stopped"}),
    };
    print(&line.to_string());
}

/// Prints why there is no answer. The exit code and stderr report it too.
pub(super) fn failed(message: &str) {
    print(&json!({"event": "error", "message": message}).to_string());
}

fn line(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Rewritten(rewrite) => json!({
            "event": "rewritten", "tool": rewrite.tool, "at": rewrite.at, "what": rewrite.what,
        }),
        Event::Asked { round } => json!({"event": "asked", "round": round}),
        Event::Delta(Delta::Text(text)) => json!({"event": "text", "text": text}),
        Event::Delta(Delta::Waiting { time, reason }) => {
            json!({"event": "waiting", "milliseconds": time.as_millis(), "reason": reason})
        }
        Event::Answered(answer) => json!({
            "event": "answer",
            "model": answer.result.model,
            "text": answer.result.text(),
            "stopReason": answer.result.stop_reason,
            "inputTokens": answer.usage.input_tokens,
            "outputTokens": answer.usage.output_tokens,
        }),
        Event::Calling(call) => {
            json!({"event": "call", "id": call.id, "name": call.name, "arguments": call.input})
        }
        Event::Progress { id, progress } => {
            json!({"event": "progress", "id": id, "progress": progress})
        }
        Event::Called {
            call,
            result,
            elapsed,
        } => json!({
            "event": "result",
            "id": call.id,
            "name": call.name,
            "isError": result.is_error(),
            "result": result,
            "milliseconds": elapsed.as_millis(),
        }),
        _ => return None,
    })
}
