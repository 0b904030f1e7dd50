//! The line editor, and how a line that is being edited is withdrawn.
//!
//! While a line is edited, the terminal is in raw mode and SIGINT goes to the editor, which ends
//! when it arrives. This is how a line is withdrawn. At all other times, the program handles SIGINT.

use std::{
    cell::Cell,
    io,
    sync::{
        Arc, Condvar, LazyLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use rustyline::{
    Behavior, CompletionType, Config, Context, Editor, ExternalPrinter, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::MemHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};
use tokio::sync::OwnedMutexGuard;
use turnbuckle_base::lock::Mutex;

use super::line::{Interrupt, Line, TypedAhead};

/// How long the editor may take to end when its line is withdrawn. It takes microseconds.
const MAX_ENDING: Duration = Duration::from_secs(1);

/// How many earlier lines the editor gets: as many as a history keeps.
const MAX_EARLIER: usize = 1000;

/// The result of reading a line.
#[derive(Debug)]
pub(super) enum TypedLine {
    Line(String),
    /// Ctrl-D.
    End,
    /// Ctrl-C: the signal was sent.
    Interrupted,
}

/// The line that is being edited, by its id.
static EDITED: Mutex<Option<u64>> = Mutex::new(None);
static ENDED: Condvar = Condvar::new();

/// Notes that SIGINT no longer goes to the editor.
fn ended() {
    *EDITED.lock() = None;
    ENDED.notify_all();
}

/// Waits until no other line is being read.
pub(super) async fn turn() -> OwnedMutexGuard<()> {
    static TURN: LazyLock<Arc<tokio::sync::Mutex<()>>> = LazyLock::new(Arc::default);
    TURN.clone().lock_owned().await
}

/// When dropped, removes an input line whose answer is no longer needed, and takes the terminal out of raw
/// mode.
pub(super) struct Withdrawal {
    id: u64,
    is_withdrawn: Arc<AtomicBool>,
}

/// A line that is being read, as its editor knows it.
#[derive(Clone)]
pub(super) struct AskedLine {
    id: u64,
    is_withdrawn: Arc<AtomicBool>,
}

impl Withdrawal {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            is_withdrawn: Arc::default(),
        }
    }

    pub(super) fn asked(&self) -> AskedLine {
        AskedLine {
            id: self.id,
            is_withdrawn: self.is_withdrawn.clone(),
        }
    }
}

impl AskedLine {
    fn is_withdrawn(&self) -> bool {
        self.is_withdrawn.load(Ordering::Acquire)
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        self.is_withdrawn.store(true, Ordering::Release);
        let now = EDITED.lock();
        if *now != Some(self.id) {
            return;
        }
        // As long as the line is edited, SIGINT goes to the editor.
        interrupt();
        let is_edited = |now: &mut Option<u64>| *now == Some(self.id);
        drop(ENDED.wait_timeout_while(now, MAX_ENDING, is_edited));
    }
}

/// Sends this process the signal that Ctrl-C sends.
fn interrupt() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
}

/// The editor, kept from one line to the next because it holds text that was typed ahead.
static KEPT: Mutex<Option<KeptEditor>> = Mutex::new(None);

struct KeptEditor {
    editor: Editor<EditorKeys, MemHistory>,
    /// With a printer, the editor also gets signals that are delivered to other threads.
    _printer: Box<dyn ExternalPrinter + Send>,
}

/// Reads a line with the editor.
pub(super) fn read(line: &Line, asked: &AskedLine) -> io::Result<TypedLine> {
    let mut kept = KEPT.lock();
    if line.typed_ahead == TypedAhead::Discarded {
        *kept = None;
        forget_typed_ahead();
    }
    loop {
        let KeptEditor { editor, .. } = match &mut *kept {
            Some(kept) => kept,
            none => none.insert(open().map_err(io::Error::other)?),
        };
        let is_empty = Arc::new(AtomicBool::new(line.initial.is_empty()));
        prepare(editor, line, asked, &is_empty).map_err(io::Error::other)?;
        let typed = editor.readline_with_initial(line.prompt.as_str(), (&line.initial, ""));
        ended();
        let is_empty = is_empty.load(Ordering::Relaxed);
        match typed {
            Ok(text) => return Ok(TypedLine::Line(text.replace("\\\n", "\n"))),
            Err(ReadlineError::Eof) => return Ok(TypedLine::End),
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) if asked.is_withdrawn() => {
                return Ok(TypedLine::End);
            }
            Err(ReadlineError::Interrupted)
                if line.interrupt == Interrupt::EmptiesFirst && !is_empty => {}
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
                interrupt();
                return Ok(TypedLine::Interrupted);
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

#[cfg(unix)]
fn forget_typed_ahead() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

#[cfg(not(unix))]
fn forget_typed_ahead() {}

fn open() -> rustyline::Result<KeptEditor> {
    let config = Config::builder()
        // Stdout may be a file, so the input is shown at the terminal.
        .behavior(Behavior::PreferTerm)
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .max_history_size(MAX_EARLIER)?
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    let printer = editor.create_external_printer()?;
    Ok(KeptEditor {
        editor,
        _printer: Box::new(printer),
    })
}

fn prepare(
    editor: &mut Editor<EditorKeys, MemHistory>,
    line: &Line,
    asked: &AskedLine,
    is_empty: &Arc<AtomicBool>,
) -> rustyline::Result<()> {
    editor.clear_history()?;
    for earlier in &line.earlier {
        editor.add_history_entry(earlier.as_str())?;
    }
    editor.set_helper(Some(EditorKeys {
        asked: asked.clone(),
        has_begun: Cell::new(false),
        known: line.known.clone(),
        is_empty: is_empty.clone(),
    }));
    Ok(())
}

/// The behavior of keys besides editing.
struct EditorKeys {
    asked: AskedLine,
    has_begun: Cell<bool>,
    /// Lines that Tab completes to.
    known: Vec<String>,
    /// Whether the line is empty, which the editor does not report for a line that was interrupted.
    is_empty: Arc<AtomicBool>,
}

impl Helper for EditorKeys {}

impl Highlighter for EditorKeys {}

impl Hinter for EditorKeys {
    type Hint = String;

    /// Called whenever the line is shown. On the first call, the editor is ready to get SIGINT.
    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.is_empty.store(line.is_empty(), Ordering::Relaxed);
        if !self.has_begun.replace(true) {
            let mut now = EDITED.lock();
            if self.asked.is_withdrawn() {
                interrupt();
            } else {
                *now = Some(self.asked.id);
            }
        }
        None
    }
}

impl Validator for EditorKeys {
    /// Lets a line that ends with a backslash continue on the next line.
    fn validate(&self, line: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        if line.input().ends_with('\\') {
            return Ok(ValidationResult::Incomplete);
        }
        // The line is complete, and can no longer be withdrawn.
        ended();
        Ok(ValidationResult::Valid(None))
    }
}

impl Completer for EditorKeys {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..position];
        if typed.is_empty() {
            return Ok((0, Vec::new()));
        }
        // Only the last word is completed; all words before it must be equal.
        let start = typed.rfind(' ').map_or(0, |blank| blank + 1);
        let known = self.known.iter().filter(|known| known.starts_with(typed));
        let mut words: Vec<String> = known
            .map(|known| {
                let rest = &known[start..];
                rest.split_inclusive(' ').next().unwrap_or(rest).to_owned()
            })
            .collect();
        words.sort();
        words.dedup();
        Ok((start, words))
    }
}
