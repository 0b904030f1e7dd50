//! The command `replay`.

use std::path::PathBuf;

use clap::Args;
use turnbuckle_command_line::{failure::Outcome, target::ServerArguments};

use super::{against, serve};
use crate::{
    recording::Recording,
    runtime::block_on,
    session::{self, Session},
};

/// Replay a recording: as a stdio server for the tests of a client, or against a server.
///
/// As a server, each request gets what was recorded for a request of the same method and params
/// (`_meta` is ignored), with the notifications and questions around it. With `--against`, or a
/// command after `--`, each recorded request is sent to that server, and every result that differs is
/// shown; the exit code is 1 then.
#[derive(Args)]
pub(crate) struct Replay {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Send the recorded requests to this server, or to the command after `--`.
    #[arg(long, value_name = "SERVER")]
    pub(super) against: Option<String>,

    /// Do not compare this part of results: a JSON pointer such as /structuredContent/time (may be
    /// repeated).
    #[arg(long, value_name = "POINTER")]
    pub(super) ignore: Vec<String>,

    /// Print each difference as JSON, a line each.
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(replay: &Replay) -> Outcome {
    let recording = Recording::open(&replay.file)?;
    if replay.against.is_none() && replay.server.command.is_empty() {
        return serve::run(recording);
    }
    let words: Vec<String> = replay.against.iter().cloned().collect();
    let (server, _) = replay.server.split(&words)?;
    let work = async |session: Session| against::run(replay, &recording, &session).await;
    let options = &replay.server.options;
    let offer = against::offer(&recording);
    block_on(session::open_ended(options, offer, &server, work))
}
