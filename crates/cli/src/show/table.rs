//! Tables with aligned columns, within the width of the terminal.

use super::rows::{letter_width, width, wrapped_within};
use turnbuckle_command_line::style::{Style, columns};

/// Rows of cells; each column is as wide as its widest cell, up to a bound.
#[derive(Default)]
pub(crate) struct Table(Vec<Vec<(String, Option<Style>)>>);

/// The widest cell that widens its column, in columns of the terminal.
const MAX_WIDTH: usize = 60;

/// The least width of a row's last cell; if there is less room, the cell gets its own line.
const MIN_LAST: usize = 24;

/// The text before each row.
const INDENT: &str = "  ";

impl Table {
    pub(crate) fn row(&mut self, cells: Vec<(String, Option<Style>)>) {
        self.0.push(cells);
    }

    /// The lines, indented, without trailing blanks. For programs nothing is cut.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines_within(columns())
    }

    /// The same with the full text of the last cells, on as many lines as needed.
    pub(crate) fn whole_lines(&self) -> Vec<String> {
        let room = columns();
        let mut lines = Vec::new();
        let first =
            |row: &[(String, Option<Style>)]| row.first().map_or(0, |(name, _)| width(name));
        let most = room.map_or(MAX_WIDTH, |room| MAX_WIDTH.min(room / 2));
        let widths = self
            .0
            .iter()
            .map(|row| first(row))
            .filter(|wide| *wide <= most);
        let widest = widths.max().unwrap_or(0);
        for row in &self.0 {
            let [(name, style), .., (text, _)] = &row[..] else {
                continue;
            };
            let missing = widest.saturating_sub(width(name));
            let name = style.map_or_else(|| name.clone(), |style| style.out(name));
            let taken = INDENT.len() + first(row) + missing + 2;
            let has_room = room.is_none_or(|room| room >= taken + MIN_LAST);
            let (head, taken) = if has_room {
                (format!("{INDENT}{name}{}", " ".repeat(missing + 2)), taken)
            } else {
                lines.push(format!("{INDENT}{name}"));
                (INDENT.repeat(3), INDENT.len() * 3)
            };
            let rows = match room {
                Some(room) => wrapped_within(text, room.saturating_sub(taken).max(MIN_LAST)),
                None => vec![text.clone()],
            };
            for (number, row) in rows.iter().enumerate() {
                let before = if number == 0 {
                    &head
                } else {
                    &" ".repeat(taken)
                };
                lines.push(format!("{before}{row}").trim_end().to_owned());
            }
        }
        lines
    }

    fn lines_within(&self, room: Option<usize>) -> Vec<String> {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let most = room.map_or(MAX_WIDTH, |room| MAX_WIDTH.min(room / 2));
        let widest = |column: usize| {
            let cells = self.0.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|(text, _)| width(text));
            widths.filter(|wide| *wide <= most).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let rows = self.0.iter();
        rows.flat_map(|row| line(row, &widths, room)).collect()
    }
}

/// A row as one line, or as two if its last cell does not fit.
fn line(cells: &[(String, Option<Style>)], widths: &[usize], room: Option<usize>) -> Vec<String> {
    let styled = |text: &str, style: Option<Style>| {
        style.map_or_else(|| text.to_owned(), |style| style.out(text))
    };
    let Some(last) = cells.iter().rposition(|(text, _)| !text.is_empty()) else {
        return vec![INDENT.to_owned()];
    };
    let (mut line, mut used) = (INDENT.to_owned(), INDENT.len());
    // The cells between the first and the last are single words and are never cut; the first is cut
    // instead.
    let words: usize = cells[1..last.max(1)]
        .iter()
        .map(|(text, _)| width(text) + 2)
        .sum();
    for (column, (text, style)) in cells[..last].iter().enumerate() {
        let kept = if column == 0 { words } else { 0 };
        let left = room.map(|room| room.saturating_sub(used + kept));
        let text = cut(text, left);
        used += width(&text);
        line.push_str(&styled(&text, *style));
        let missing = widths[column].saturating_sub(width(&text)) + 2;
        line.extend(std::iter::repeat_n(' ', missing));
        used += missing;
    }
    let (text, style) = &cells[last];
    let left = room.map(|room| room.saturating_sub(used));
    let has_room = left.is_none_or(|left| left >= MIN_LAST || left >= width(text));
    if last == 0 || has_room {
        line.push_str(&styled(&cut(text, left), *style));
        return vec![line];
    }
    let indent = INDENT.repeat(3);
    let text = cut(text, room.map(|room| room.saturating_sub(indent.len())));
    let second = format!("{indent}{}", styled(&text, *style));
    vec![line.trim_end().to_owned(), second]
}

/// The beginning of a text, at most this many columns wide.
pub(crate) fn cut(text: &str, room: Option<usize>) -> String {
    let Some(room) = room.filter(|room| width(text) > *room) else {
        return text.to_owned();
    };
    if room == 0 {
        return String::new();
    }
    let mut used = 1;
    let fits = |letter: &char| {
        used += letter_width(*letter);
        used <= room
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;
    use turnbuckle_command_line::control::is_order;

    fn lines(room: Option<usize>) -> Vec<String> {
        let mut table = Table::default();
        let long = "Says what it was told, word by word, and never anything else at all.";
        let cell = |text: &str| (text.to_owned(), None);
        table.row(vec![cell("echo(text: string)"), cell("read"), cell(long)]);
        table.row(vec![cell("日本語(x)"), cell(""), cell("short")]);
        table.lines_within(room)
    }

    #[test]
    fn lines_are_no_wider_than_the_terminal() {
        for room in [20, 40, 60, 80, 120] {
            for line in lines(Some(room)) {
                assert!(line.width() <= room, "{room}: {line}");
            }
        }
        assert_eq!(lines(Some(60)).len(), 2);
        assert_eq!(lines(Some(40)).len(), 3);
    }

    #[test]
    fn words_between_the_first_cell_and_the_last_are_whole() {
        let mut table = Table::default();
        let cell = |text: &str| (text.to_owned(), None);
        let long = "weather(place: string, unit?: \"celsius\"|\"fahrenheit\")";
        table.row(vec![cell(long), cell("read"), cell("Tells the weather.")]);
        for room in [40, 60] {
            let lines = table.lines_within(Some(room));
            assert!(lines[0].ends_with("  read"), "{lines:?}");
            assert!(lines.iter().all(|line| line.width() <= room), "{lines:?}");
        }
    }

    #[test]
    fn nothing_is_cut_for_a_program() {
        let lines = lines(None);
        assert!(lines[0].ends_with("anything else at all."), "{lines:?}");
        // Columns are aligned by their visible width.
        let place = |line: &str, word: &str| line[..line.find(word).unwrap()].width();
        assert_eq!(place(&lines[0], "Says"), place(&lines[1], "short"));
    }

    #[test]
    fn characters_that_are_replaced_have_the_width_of_what_is_shown() {
        let mut table = Table::default();
        let cell = |text: &str| (text.to_owned(), None);
        let forged = format!(
            "short{}trusted_tool(x: string)  read",
            "\u{202e}".repeat(64)
        );
        table.row(vec![cell("bad()"), cell(&forged)]);
        table.row(vec![cell(&format!("{}()", "\x1b".repeat(90))), cell("x")]);
        for room in [40, 60, 80] {
            for line in table.lines_within(Some(room)) {
                // The text as the terminal gets it.
                let shown = line.replace(is_order, "\u{fffd}");
                assert!(shown.width() <= room, "{room}: {shown}");
                assert!(!shown.contains("trusted_tool"), "{room}: {shown}");
            }
        }
    }
}
