//! Text of a server at a terminal: it is shown, and it commands nothing.
//!
//! A terminal takes some characters as orders: to set its title, to write to the clipboard, to move
//! over what was printed before. A program that reads gets every byte as it came.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _},
};

/// The text for stdout: without orders, if that is a terminal.
pub(crate) fn for_stdout(text: &str) -> Cow<'_, str> {
    for_stream(text, io::stdout().is_terminal())
}

/// The text for stderr, likewise.
pub(crate) fn for_stderr(text: &str) -> Cow<'_, str> {
    for_stream(text, io::stderr().is_terminal())
}

/// Prints a line that has words of a server in it on stderr.
pub(crate) fn tell(line: &str) {
    eprintln!("{}", for_stderr(line));
}

fn for_stream(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal && text.chars().any(is_order) {
        Cow::Owned(harmless(text))
    } else {
        Cow::Borrowed(text)
    }
}

fn is_order(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// Orders are replaced by their pictures; colours stay, for they are ours too.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match colour(rest) {
            Some(length) => length,
            None if rest.starts_with("\r\n") => 2,
            None => letter.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        if is_order(letter) && length == letter.len_utf8() {
            shown.push(picture(letter));
        } else {
            shown.push_str(piece);
        }
        rest = after;
    }
    shown
}

/// How many bytes an order for a colour has, if one stands here.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
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
            ("two\r\nlines", "two\r\nlines"),
            ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
            ("\x1b]52;c;eA==\x07", "␛]52;c;eA==␇"),
            ("\x1b[2J\rover", "␛[2J␍over"),
            ("\x1b[31", "␛[31"),
            ("\x1b", "␛"),
            ("\u{9b}2J\x7f", "\u{fffd}2J␡"),
            ("日本 ü", "日本 ü"),
        ] {
            assert_eq!(for_stream(sent, true), seen);
            assert_eq!(for_stream(sent, false), sent);
        }
    }
}
