//! `turnbuckle record`: a session between any client and a server, written down.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Write},
    path::PathBuf,
    process::{self, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Instant,
};

use clap::Args;

use crate::{
    exit::{Code, Failed, Outcome},
    secret::Secrets,
    wire,
};

/// Record a session: stand between a client and a server over stdio, and write down every message.
///
/// Give `turnbuckle record FILE -- command` to a client in place of the command. Each line of the
/// file has the milliseconds since the beginning, the direction (`out` to the server, `in` from it)
/// and the message, without secrets. For a server at a URL, `--record FILE` with any other command
/// writes the same.
#[derive(Args)]
pub(crate) struct Record {
    /// The file to write.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The server's command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The longest message that is passed on, in bytes: what a client of ours takes.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;

pub(crate) fn run(record: &Record) -> Outcome {
    let file = File::create(&record.file).map_err(|error| {
        Failed::usage(format!("cannot write `{}`: {error}", record.file.display()))
    })?;
    let sheet = Arc::new(Mutex::new(file));
    let (program, arguments) = record
        .command
        .split_first()
        .ok_or_else(|| Failed::usage("no command was given"))?;
    let lost = |error: io::Error| Failed::new(Code::Connect, error);
    let mut child = process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Failed::new(Code::Connect, format!("cannot start `{program}`: {error}"))
        })?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failed::new(Code::Connect, "the server has no pipes"));
    };
    let started = Instant::now();
    let their_sheet = sheet.clone();
    // It ends with the client's end, which closes the server's stdin; if the server ends first, it
    // ends with this process.
    thread::spawn(move || pass(io::stdin(), to, "out", started, &their_sheet));
    let passed = pass(from, io::stdout(), "in", started, &sheet);
    let ended = child.wait().map_err(lost)?;
    passed.map_err(lost)?;
    if ended.success() {
        return Ok(());
    }
    Err(Failed::new(
        Code::Connect,
        format!("the server ended with {ended}"),
    ))
}

/// Passes lines on as they are, and writes each down.
fn pass(
    from: impl Read,
    mut to: impl Write,
    direction: &'static str,
    started: Instant,
    sheet: &Mutex<File>,
) -> io::Result<()> {
    let mut lines = BufReader::new(from);
    let mut bytes = Vec::new();
    let secrets = Secrets::default();
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
        let line = wire::line(started, direction, bytes.trim_ascii(), &secrets);
        let mut sheet = sheet.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(sheet, "{line}")?;
    }
}
