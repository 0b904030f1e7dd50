//! A server that is a program: relays its stdin and stdout, and records every message.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    process::{self, Stdio},
    thread,
};

use turnbuckle_command_line::failure::{Code, Failed, Outcome};
use turnbuckle_host::{config::Launch, shared::own_secrets};

use super::sheet::Sheet;

/// The longest message that is passed on, in bytes: the limit of our own client.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;

/// Which part of our environment the program inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Environment {
    /// All of it: the program is the one that a client would start itself, in this environment.
    Whole,
    /// All but the secrets that only our own programs read: a config file says what else the program needs.
    WithoutOwnSecrets,
}

pub(super) fn run(launch: &Launch, environment: Environment, sheet: &Sheet) -> Outcome {
    let lost = |error: io::Error| Failed::new(Code::Connect, error);
    let mut child = start(launch, environment)?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failed::new(Code::Connect, "the server has no pipes"));
    };
    let their_sheet = sheet.clone();
    // This thread ends when the client closes its end, which closes the server's stdin. If the server ends first,
    // the thread ends with this process.
    thread::spawn(move || pass(io::stdin(), to, "out", &their_sheet));
    let passed = pass(from, io::stdout(), "in", sheet);
    let ended = child.wait().map_err(lost)?;
    passed.map_err(lost)?;
    if ended.success() {
        return sheet.all_written();
    }
    Err(Failed::new(
        Code::Connect,
        format!("the server ended with {ended}"),
    ))
}

fn start(launch: &Launch, inherited: Environment) -> Outcome<process::Child> {
    let Launch::Command {
        program,
        arguments,
        environment,
        folder,
    } = launch
    else {
        return Err(Failed::usage("the server is not a program"));
    };
    let mut command = process::Command::new(program);
    if inherited == Environment::WithoutOwnSecrets {
        for name in own_secrets() {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command
        .spawn()
        .map_err(|error| Failed::new(Code::Connect, format!("cannot start `{program}`: {error}")))
}

/// Passes lines on unchanged, and records each of them.
fn pass(
    from: impl Read,
    mut to: impl Write,
    direction: &'static str,
    sheet: &Sheet,
) -> io::Result<()> {
    let mut lines = BufReader::new(from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = (&mut lines)
            .take(MAX_MESSAGE)
            .read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&bytes)?;
        to.flush()?;
        sheet.write(direction, bytes.trim_ascii());
    }
}
