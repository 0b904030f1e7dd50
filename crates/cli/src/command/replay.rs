//! `turnbuckle replay`: a recording as a server, or against one.

use std::{
    io::{BufRead as _, Write as _},
    path::PathBuf,
};

use clap::Args;
use serde_json::{Value, json, value::RawValue};

use super::{block_on, print};
use crate::{
    exit::{Code, Failed, Outcome},
    recording::Recording,
    session::{self, Session},
    target::{self, Options},
};

/// Replay a recording: as a stdio server for the tests of a client, or against a server.
///
/// As a server, each request gets what was recorded for a request of the same method and params
/// (what is in `_meta` aside), and the notifications before it. With `--against`, each recorded
/// request is sent to the server, and every result that differs is shown.
#[derive(Args)]
pub(crate) struct Replay {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Send the recorded requests to this server, or to the command after `--`.
    #[arg(long, value_name = "SERVER")]
    against: Option<String>,

    #[command(flatten)]
    options: Options,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(replay: &Replay) -> Outcome {
    let recording = Recording::open(&replay.file)?;
    if replay.against.is_none() && replay.command.is_empty() {
        return serve(recording);
    }
    let words: Vec<String> = replay.against.iter().cloned().collect();
    let config = replay.options.config.as_ref();
    let (server, _) = target::split(&words, &replay.command, config)?;
    let work = async |session: Session| against(&recording, &session).await;
    block_on(session::with(&replay.options, None, &server, work))
}

/// Answers requests on stdin with what was recorded.
fn serve(mut recording: Recording) -> Outcome {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failed::new(Code::Connect, error))?;
        let Ok(request) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let (Some(id), Some(method)) = (request.get("id"), request["method"].as_str()) else {
            continue;
        };
        let messages = recording
            .take(method, &request["params"])
            .unwrap_or_else(|| {
                let message = format!("nothing was recorded for this `{method}`");
                vec![json!({"jsonrpc": "2.0", "error": {"code": -32_601, "message": message}})]
            });
        for mut message in messages {
            if message.get("method").is_none() {
                message["id"] = id.clone();
            }
            if writeln!(out, "{message}").is_err() {
                return Ok(());
            }
        }
        let _ = out.flush();
    }
    Ok(())
}

/// Requests that belong to a connection and not to what is asked on it.
const OF_CONNECTIONS: [&str; 3] = ["initialize", "server/discover", "subscriptions/listen"];

async fn against(recording: &Recording, session: &Session) -> Outcome {
    let mut differences = 0;
    let mut sent = 0;
    for exchange in &recording.exchanges {
        if OF_CONNECTIONS.contains(&exchange.method.as_str()) {
            continue;
        }
        sent += 1;
        let params = without_meta(&exchange.params);
        let params = (!params.is_null())
            .then(|| RawValue::from_string(params.to_string()).ok())
            .flatten();
        let answer = session
            .connection
            .request_raw(exchange.method.clone(), params);
        let now = match answer.await {
            Ok(result) => serde_json::from_str(result.get()).unwrap_or_default(),
            Err(error) => json!({"error": error.to_string()}),
        };
        let then = match exchange.answer.get("result") {
            Some(result) => result.clone(),
            None => json!({"error": exchange.answer["error"]["message"]}),
        };
        let both_failed = now.get("error").is_some() && then.get("error").is_some();
        let (then, now) = (without_meta(&then), without_meta(&now));
        if then != now && !both_failed {
            differences += 1;
            let difference = json!({
                "method": exchange.method, "params": without_meta(&exchange.params),
                "then": then, "now": now,
            });
            print(&difference.to_string());
        }
    }
    eprintln!("{sent} requests, {differences} answered otherwise");
    if differences > 0 {
        return Err(Failed::new(
            Code::Tool,
            "the server answers otherwise than recorded",
        ));
    }
    Ok(())
}

fn without_meta(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        members.shift_remove("_meta");
    }
    value
}
