//! The command `record`.

use std::path::PathBuf;

use clap::Args;
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    target::ServerArguments,
};
use turnbuckle_host::config::Launch;

use super::{
    bridge,
    child::{self, Environment},
    sheet::Sheet,
};

use crate::runtime::block_on;

/// Record a session: relay messages between a client and a server, and write each one to a file.
///
/// Give `turnbuckle record FILE SERVER` to a client in place of a command: it speaks over stdin and
/// stdout, whether the server is a program, a URL, or a name from a config file. Each line of the
/// file has the milliseconds since the beginning, the direction (`out` to the server, `in` from it)
/// and the message, without secrets. `--record FILE` with any other command writes the same.
///
/// A command after `--` gets the whole environment that the client gave to `turnbuckle record`, because
/// it stands in for this command. A program from a config file is started as by every other command:
/// without the secrets that only Turnbuckle reads, such as `TURNBUCKLE_SECRET` and
/// `TURNBUCKLE_INPUT_…`.
#[derive(Args)]
// The file is the first argument here.
#[command(mut_arg("record", |argument| argument.hide(true)))]
pub(crate) struct Record {
    /// The file to write, and the server, unless a command is given after `--`.
    #[arg(value_name = "FILE SERVER", required = true, num_args = 1..=2)]
    words: Vec<String>,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(record: &Record) -> Outcome {
    let (file, words) = record
        .words
        .split_first()
        .ok_or_else(|| Failed::usage("name the file to write"))?;
    let (server, rest) = record.server.split(words)?;
    if let Some(word) = rest.first() {
        return Err(Failed::usage(format!("unexpected argument `{word}`")));
    }
    let options = &record.server.options;
    options.suits(&server.launch)?;
    let sheet = Sheet::create(&PathBuf::from(file), server.secrets(options))?;
    match &server.launch {
        Launch::Command { .. } => {
            let environment = match server.entry {
                Some(_) => Environment::WithoutOwnSecrets,
                None => Environment::Whole,
            };
            child::run(&server.launch, environment, &sheet)
        }
        Launch::Remote(remote) => block_on(bridge::run(&server, remote, options, sheet)),
    }
}
