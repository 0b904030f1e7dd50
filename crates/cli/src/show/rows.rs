//! Text of others, cut into rows that fit into the terminal.
//!
//! A terminal wraps a line that is too long, and continues it at the beginning of the next row. By padding its text, a
//! server could write a row there that looks like one of ours.

use turnbuckle_command_line::{control::is_order, style::columns};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The assumed width of the terminal, if it is unknown.
const COLUMNS: usize = 80;

/// The least number of columns for text. A narrower terminal wraps the rows itself.
const MIN_ROOM: usize = 20;

/// Cuts one line into rows. In each row, `taken` columns are left for the text before it.
pub(crate) fn rows(line: &str, taken: usize) -> Vec<&str> {
    let room = columns().unwrap_or(COLUMNS).saturating_sub(taken);
    rows_within(line, room.max(MIN_ROOM))
}

/// The width of a text at a terminal, in columns. Each control character is replaced by a symbol of one column,
/// and a tab takes at most eight.
pub(super) fn width(text: &str) -> usize {
    let is_special = |letter: char| letter == '\t' || is_order(letter);
    if !text.contains(is_special) {
        return text.width();
    }
    let special = text.chars().filter(|letter| is_special(*letter));
    let widths: usize = special.map(letter_width).sum();
    widths + text.replace(is_special, "").width()
}

/// The same for one character.
pub(super) fn letter_width(letter: char) -> usize {
    match letter {
        '\t' => TAB,
        order if is_order(order) => 1,
        other => other.width().unwrap_or(0),
    }
}

/// The columns between two tab stops.
const TAB: usize = 8;

fn rows_within(line: &str, room: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, letter) in line.char_indices() {
        let width = letter_width(letter);
        if used + width > room && at > start {
            rows.push(&line[start..at]);
            (start, used) = (at, 0);
        }
        used += width;
    }
    rows.push(&line[start..]);
    rows
}

/// Wraps one line between words, if it is written to a terminal. In each row, `taken` columns are
/// left for the text before it.
pub(crate) fn wrapped(line: &str, taken: usize) -> Vec<String> {
    match columns() {
        Some(columns) => wrapped_within(line, columns.saturating_sub(taken).max(MIN_ROOM)),
        None => vec![line.to_owned()],
    }
}

/// Rows of at most `room` columns, wrapped between words. Only a longer word is cut.
pub(super) fn wrapped_within(line: &str, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    // The indentation of the line is kept: lists and code are indented.
    let text = line.trim_start();
    let mut row = line[..line.len() - text.len()].to_owned();
    let mut has_words = false;
    for word in text.split(' ') {
        let blank = usize::from(has_words);
        if has_words && width(&row) + blank + width(word) > room {
            rows.push(std::mem::take(&mut row));
        } else if has_words {
            row.push(' ');
        }
        row.push_str(word);
        has_words = true;
        if width(&row) > room {
            let mut parts: Vec<_> = rows_within(&row, room)
                .into_iter()
                .map(str::to_owned)
                .collect();
            let last = parts.pop().unwrap_or_default();
            rows.append(&mut parts);
            row = last;
        }
    }
    rows.push(row);
    rows
}

/// The beginning of a text, with a mark if something is left out.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_between_words_where_they_can() {
        for (line, rows) in [
            ("", &[""][..]),
            ("one two", &["one two"]),
            ("one two three", &["one two", "three"]),
            ("  one two", &["  one", "two"]),
            ("a donaudampfschiff", &["a", "donaudam", "pfschiff"]),
        ] {
            assert_eq!(wrapped_within(line, 8), rows, "{line}");
        }
    }

    #[test]
    fn rows_have_no_more_columns_than_there_are() {
        for (line, rows) in [
            ("", &[""][..]),
            ("abc", &["abc"]),
            ("abcd", &["abc", "d"]),
            ("abcdefg", &["abc", "def", "g"]),
            // Characters that take two columns are not cut in half.
            ("日本語", &["日", "本", "語"]),
            ("a\u{301}bcd", &["a\u{301}bc", "d"]),
            // A character that is replaced by a symbol of one column counts as one.
            (
                "\u{202e}\u{202e}\u{202e}\u{202e}",
                &["\u{202e}\u{202e}\u{202e}", "\u{202e}"],
            ),
            ("\x1b\x1b\x1bd", &["\x1b\x1b\x1b", "d"]),
        ] {
            assert_eq!(rows_within(line, 3), rows, "{line}");
        }
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("übcd", 3), "übc…");
    }
}
