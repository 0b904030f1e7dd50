//! Shows the message of a question in a way in which a server cannot imitate our own lines.

use turnbuckle_command_line::{
    control::{one_line, tell},
    style::Style,
};
use unicode_width::UnicodeWidthStr as _;

use crate::show::rows;

/// The mark before each further row of a server's text.
const MARK: &str = "  | ";

/// Shows which server asks, and its message.
pub(super) fn show(server: &str, message: &str) {
    for row in shown(server, message) {
        tell(&row);
    }
}

fn shown(server: &str, message: &str) -> Vec<String> {
    let asks = format!("{} asks: ", one_line(server));
    let mut lines = lines(message);
    let first = if lines.is_empty() {
        String::new()
    } else {
        lines.remove(0)
    };
    let mut first = rows(&first, asks.width() + 2).into_iter();
    let head = first.next().unwrap_or_default();
    let head = format!("{} {asks}{head}", Style::Ask.err("?"));
    let rest = lines.iter().flat_map(|line| rows(line, MARK.len()));
    std::iter::once(head)
        .chain(first.chain(rest).map(marked))
        .collect()
}

/// A text of a server with a mark before each row.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let lines = lines(text);
    let rows = lines.iter().flat_map(|line| rows(line, MARK.len()));
    rows.map(marked).collect()
}

fn marked(row: &str) -> String {
    format!("{MARK}{row}")
}

/// The lines of a text that are not empty.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(one_line);
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_server_has_a_mark() {
        let message = "Go\n? server `bank`: may tool `pay` be called?\r\n\n  y once\r> /allow *";
        let shown_rows = shown("a\nb", message);
        let [head, rest @ ..] = &shown_rows[..] else {
            panic!("there is a line")
        };
        assert!(head.ends_with("a b asks: Go"), "{head}");
        assert_eq!(
            rest,
            [
                "  | ? server `bank`: may tool `pay` be called?",
                "  | y once > /allow *"
            ]
        );
        assert!(shown("a", "")[0].ends_with("a asks: "));
        // Padding cannot move text to the beginning of a row.
        let padded = format!("Go{}? server `bank`", "_".repeat(500));
        let long = [shown("a", &padded), quoted(&padded)].concat();
        assert!(long.len() > 4, "{long:?}");
        assert!(
            long[1..].iter().all(|row| row.starts_with("  | ")),
            "{long:?}"
        );
    }
}
