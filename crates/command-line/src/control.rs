//! Removes control sequences from text of servers before it is shown at a terminal.
//!
//! A terminal executes some characters as commands: to set its title, to write to the clipboard, to overwrite
//! earlier output, to change colours. Other characters reverse the direction of text, so that it reads
//! differently. If the output is not a terminal, every byte is written unchanged.
//!
//! Our own colours pass through the same filter; they carry a random mark that other text cannot contain.

use std::{
    borrow::Cow,
    hash::{BuildHasher as _, RandomState},
    io::{self, IsTerminal as _, Write as _},
    sync::LazyLock,
};

/// The start of our own colour sequences: random, and different in each process.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\x1b{:016x}", RandomState::new().hash_one(0)));

/// The text for stdout: without control sequences if stdout is a terminal.
pub fn for_stdout(text: &str) -> Cow<'_, str> {
    for_stream(text, io::stdout().is_terminal())
}

/// The text for stderr: without control sequences if stderr is a terminal.
pub fn for_stderr(text: &str) -> Cow<'_, str> {
    for_stream(text, io::stderr().is_terminal())
}

/// Prints a line on stderr, which may contain text of a server. If stderr is closed or full, the program continues,
/// unlike with `eprintln!`.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", for_stderr(line));
}

/// Prints a question on stderr, and leaves the cursor after it.
pub fn prompt(text: &str) {
    show(&for_stderr(text));
}

/// Prints our own text on stderr unchanged, with its control sequences.
pub fn show(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Text of others as part of one line: line ends and runs of spaces become one space, so that the
/// text cannot start a line that looks like one of ours.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of others as part of one line of a log: the same, and control characters are replaced by
/// visible symbols even if the output is not a terminal, because the log may be shown on one.
pub fn log_text(text: &str) -> String {
    harmless(&one_line(text))
}

/// Whether a character controls a terminal, or hides the real content of a text.
pub fn is_order(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // Changes of text direction, line separators, and invisible tags.
        '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// Coloured text, for [`for_stdout`] and [`for_stderr`].
pub(crate) fn coloured(text: &str, code: &str) -> String {
    let mark = &*MARK;
    format!("{mark}[{code}m{text}{mark}[0m")
}

fn for_stream(text: &str, is_terminal: bool) -> Cow<'_, str> {
    let is_plain = if is_terminal {
        !text.contains(is_order)
    } else {
        !text.contains(MARK.as_str())
    };
    if is_plain {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split(MARK.as_str());
    let clean = |piece: &str| {
        if is_terminal {
            harmless(piece)
        } else {
            piece.to_owned()
        }
    };
    let mut shown = clean(pieces.next().unwrap_or_default());
    for piece in pieces {
        shown.push('\x1b');
        shown.push_str(&clean(piece));
    }
    Cow::Owned(shown)
}

/// Replaces control characters by visible symbols.
fn harmless(text: &str) -> String {
    let letter = |letter: char| match letter {
        letter if is_order(letter) => picture(letter),
        letter => letter,
    };
    text.replace("\r\n", "\n").chars().map(letter).collect()
}

fn picture(order: char) -> char {
    match u32::from(order) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_seen_and_not_obeyed() {
        for (sent, seen) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("two\r\nlines", "two\nlines"),
            ("\x1b[1;31mred\x1b[0m", "␛[1;31mred␛[0m"),
            ("\x1b]52;c;eA==\x07", "␛]52;c;eA==␇"),
            ("\x1b[2J\rover", "␛[2J␍over"),
            ("\x1b", "␛"),
            ("\u{9b}2J\x7f", "\u{fffd}2J␡"),
            ("safe\u{202e}gpj.exe", "safe\u{fffd}gpj.exe"),
            ("a\u{2066}b\u{2069}", "a\u{fffd}b\u{fffd}"),
            ("日本 ü ‏שלום 👩‍👩‍👧", "日本 ü ‏שלום 👩‍👩‍👧"),
        ] {
            assert_eq!(for_stream(sent, true), seen);
            assert_eq!(for_stream(sent, false), sent);
        }
    }

    #[test]
    fn no_text_ends_a_line_of_ours() {
        for end in [
            "\n", "\r", "\r\n", "\x0b", "\x0c", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            let text = format!("{end}one{end} {end}two{end}");
            assert_eq!(one_line(&text), "one two", "{end:?}");
        }
        assert_eq!(one_line("as it is"), "as it is");
        assert_eq!(log_text("a\x1b[31m\nb\u{202e}"), "a␛[31m b\u{fffd}");
    }

    #[test]
    fn colours_of_ours_are_kept_and_those_of_others_are_not() {
        let line = coloured("bold \x1b[32mgreen", "1");
        assert_eq!(for_stream(&line, true), "\x1b[1mbold ␛[32mgreen\x1b[0m");
        let line = coloured("bold", "1");
        assert_eq!(for_stream(&line, false), "\x1b[1mbold\x1b[0m");
    }
}
