//! Lines typed by a person, without holding up the connection.

use std::{
    io::{self, BufRead as _, Read as _, Write as _},
    sync::{LazyLock, mpsc},
    thread,
};

use tokio::sync::{self, Mutex};
use turnbuckle_command_line::{
    control::for_stderr,
    failure::{Code, Failed, Outcome},
};

/// The longest line that is taken, in bytes: what a terminal can paste, and more.
const MAX_LINE: u64 = 1024 * 1024;

/// The one who reads. A question that is withdrawn leaves its line to the next one.
static READER: LazyLock<Reader> = LazyLock::new(Reader::start);

struct Reader {
    asks: mpsc::Sender<()>,
    lines: Mutex<Lines>,
}

struct Lines {
    read: sync::mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Whether a line was asked for and did not come yet.
    is_asked: bool,
}

impl Reader {
    fn start() -> Self {
        let (asks, asked) = mpsc::channel::<()>();
        let (told, read) = sync::mpsc::channel(1);
        thread::spawn(move || {
            while asked.recv().is_ok() {
                let mut bytes = Vec::new();
                let outcome = io::stdin()
                    .lock()
                    .take(MAX_LINE)
                    .read_until(b'\n', &mut bytes);
                if told.blocking_send(outcome.map(|_| bytes)).is_err() {
                    return;
                }
            }
        });
        let lines = Lines {
            read,
            is_asked: false,
        };
        Self {
            asks,
            lines: Mutex::new(lines),
        }
    }
}

/// Shows a prompt on stderr and waits for a line; `None` at the end of the input (Ctrl-D).
///
/// # Cancel safety
/// Dropping the future loses nothing: a line that is being typed is the answer to the next prompt.
pub(crate) async fn read(prompt: &str) -> Outcome<Option<String>> {
    let mut lines = READER.lines.lock().await;
    eprint!("{}", for_stderr(prompt));
    let _ = io::stderr().flush();
    let gone = || Failed::new(Code::Input, "the terminal is gone");
    if !lines.is_asked {
        READER.asks.send(()).map_err(|_| gone())?;
        lines.is_asked = true;
    }
    let read = lines.read.recv().await.ok_or_else(gone)?;
    lines.is_asked = false;
    let bytes = read.map_err(|error| Failed::new(Code::Input, error))?;
    if bytes.is_empty() {
        // The cursor is behind the prompt.
        eprintln!();
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}
