//! Colours, if the output is a terminal.

use std::{
    env,
    io::{self, IsTerminal as _},
    sync::OnceLock,
    time::Duration,
};

use crate::control;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[expect(missing_docs, reason = "clap would print the words in `--help`")]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

static CHOSEN: OnceLock<Colour> = OnceLock::new();

/// Sets the value of `--color`, once, at the start.
pub fn choose(colour: Colour) {
    let _ = CHOSEN.set(colour);
}

/// The appearance of a text. The output must be understandable without it.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// Bold.
    Strong,
    /// Dim.
    Dim,
    /// Green.
    Good,
    /// Yellow.
    Warn,
    /// Red.
    Bad,
    /// Magenta.
    Ask,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
            Self::Ask => "35",
        }
    }

    /// The text for stdout, to be printed through [`control::for_stdout`].
    pub fn out(self, text: &str) -> String {
        self.paint(text, io::stdout().is_terminal())
    }

    /// The text for stderr, to be printed with [`control::tell`].
    pub fn err(self, text: &str) -> String {
        self.paint(text, io::stderr().is_terminal())
    }

    fn paint(self, text: &str, is_terminal: bool) -> String {
        let wanted = match CHOSEN.get().copied().unwrap_or_default() {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                is_terminal
                    && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && env::var("TERM").map_or(true, |terminal| terminal != "dumb")
            }
        };
        if wanted && !text.is_empty() {
            control::coloured(text, self.code())
        } else {
            text.to_owned()
        }
    }
}

/// How many columns stdout has, if it is a terminal.
pub fn columns() -> Option<usize> {
    #[cfg(unix)]
    {
        let stdout = io::stdout();
        let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
        (size.ws_col > 0).then_some(size.ws_col.into())
    }
    #[cfg(not(unix))]
    {
        let given = env::var("COLUMNS").ok()?.parse().ok();
        given.filter(|_| io::stdout().is_terminal())
    }
}

/// A time in three digits: `9 ms`, `1.24 s`.
pub fn elapsed(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    match milliseconds {
        under if under < 10.0 => format!("{under:.1} ms"),
        under if under < 1000.0 => format!("{under:.0} ms"),
        under if under < 60_000.0 => format!("{:.2} s", under / 1000.0),
        over => format!(
            "{:.0} min {:02.0} s",
            (over / 60_000.0).floor(),
            over % 60_000.0 / 1000.0
        ),
    }
}

/// A size: `312 B`, `1.2 KB`, `5.0 MB`.
pub fn bytes(count: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let size = count as f64;
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} KB", size / 1e3),
        _ => format!("{:.1} MB", size / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_short() {
        assert_eq!(elapsed(Duration::from_micros(1_240)), "1.2 ms");
        assert_eq!(elapsed(Duration::from_millis(74)), "74 ms");
        assert_eq!(elapsed(Duration::from_millis(1_240)), "1.24 s");
        assert_eq!(elapsed(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_234), "1.2 KB");
        assert_eq!(bytes(5_000_000), "5.0 MB");
    }
}
