//! Lines typed by a person, without holding up the connection.

use std::{
    io::{self, Write as _},
    thread,
};

use tokio::sync::oneshot;
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

use crate::show::for_stderr;

/// The longest line that is taken, in bytes: what a terminal can paste, and more.
const MAX_LINE: u64 = 1024 * 1024;

/// Shows a prompt on stderr and waits for a line; `None` at the end of the input (Ctrl-D).
///
/// # Cancel safety
/// The thread that reads is left behind, and ends with the process or the line.
pub(super) async fn read(prompt: &str) -> Outcome<Option<String>> {
    eprint!("{}", for_stderr(prompt));
    let _ = io::stderr().flush();
    let (told, line) = oneshot::channel();
    thread::spawn(move || {
        use io::{BufRead as _, Read as _};
        let mut bytes = Vec::new();
        let read = io::stdin()
            .lock()
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes);
        let _ = told.send(read.map(|_| bytes));
    });
    let bytes = match line.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(Failed::new(Code::Input, error)),
        Err(_) => return Err(Failed::new(Code::Input, "the terminal is gone")),
    };
    if bytes.is_empty() {
        // The cursor is behind the prompt.
        eprintln!();
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}
