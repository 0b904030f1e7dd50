//! Lines that the user types, edited with the keys of shells, without blocking the connection.
//!
//! One line is read at a time, on a separate thread. Ctrl-C is a signal, as everywhere else.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::oneshot;
use turnbuckle_command_line::{
    control::{for_stderr, show, tell},
    failure::{Code, Failed, Outcome},
};

use super::editor::{self, TypedLine};

/// The longest line that is accepted if there is no terminal, in bytes.
const MAX_LINE: u64 = 1024 * 1024;

/// A line to be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(super) prompt: String,
    /// The initial text.
    pub(super) initial: String,
    /// Earlier lines, the oldest first, for the arrow keys and Ctrl-R.
    pub(super) earlier: Vec<String>,
    /// Lines that Tab completes to.
    pub(super) known: Vec<String>,
    pub(super) typed_ahead: TypedAhead,
    pub(super) interrupt: Interrupt,
}

/// What to do with keys that were pressed before the prompt was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TypedAhead {
    #[default]
    Kept,
    /// They are discarded: the user cannot have agreed to a text before it was shown.
    Discarded,
}

/// What Ctrl-C does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Interrupt {
    #[default]
    Signals,
    /// It first empties a line that is not empty, as in a shell.
    EmptiesFirst,
}

impl Line {
    /// Creates a line with this prompt.
    pub(crate) fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the initial text, which the user can change.
    pub(crate) fn holding(mut self, initial: impl Into<String>) -> Self {
        self.initial = initial.into();
        self
    }

    /// Sets what a conversation needs: earlier lines, and completion. Ctrl-C empties the
    /// line first.
    pub(crate) fn of_conversation(mut self, earlier: Vec<String>, known: Vec<String>) -> Self {
        self.earlier = earlier;
        self.known = known;
        self.interrupt = Interrupt::EmptiesFirst;
        self
    }

    /// Accepts only keys that are pressed after the prompt is shown: for consent.
    pub(crate) fn not_typed_ahead(mut self) -> Self {
        self.typed_ahead = TypedAhead::Discarded;
        self
    }

    /// Shows the prompt and waits for the line; `None` at the end of the input (Ctrl-D).
    ///
    /// # Cancel safety
    /// Dropping the future removes the prompt; the text that was typed is lost.
    pub(crate) async fn read(mut self) -> Outcome<Option<String>> {
        self.prompt = for_stderr(&self.prompt).into_owned();
        let turn = editor::turn().await;
        let withdrawal = editor::Withdrawal::new();
        let asked = withdrawal.asked();
        let (answer, told) = oneshot::channel();
        std::thread::spawn(move || {
            let typed = if io::stdin().is_terminal() && io::stderr().is_terminal() {
                editor::read(&self, &asked)
            } else {
                plain(&self.prompt)
            };
            // After Ctrl-C, no result is sent: the signal ends whatever waits for it.
            if !matches!(typed, Ok(TypedLine::Interrupted)) {
                let _ = answer.send(typed);
            }
            drop(turn);
        });
        let typed = match told.await {
            Ok(typed) => typed.map_err(|error| Failed::new(Code::Input, error))?,
            Err(_) => std::future::pending().await,
        };
        drop(withdrawal);
        Ok(match typed {
            TypedLine::Line(line) => Some(line),
            TypedLine::End | TypedLine::Interrupted => None,
        })
    }
}

/// Reads a line after a prompt.
pub(crate) async fn read(prompt: &str) -> Outcome<Option<String>> {
    Line::new(prompt).read().await
}

/// Reads a line if there is no terminal.
fn plain(prompt: &str) -> io::Result<TypedLine> {
    show(prompt);
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_LINE)
        .read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        // The cursor is after the prompt.
        tell("");
        return Ok(TypedLine::End);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(TypedLine::Line(
        text.trim_end_matches(['\n', '\r']).to_owned(),
    ))
}
