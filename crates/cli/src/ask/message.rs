//! The message of a question, as it is shown: a server cannot write lines of ours with it.

use turnbuckle_command_line::{
    control::{one_line, tell},
    style::Style,
};

/// What is before each further line that a server wrote.
const MARK: &str = "  | ";

/// Says who asks, and what.
pub(super) fn show(server: &str, message: &str) {
    for line in lines(server, message) {
        tell(&line);
    }
}

fn lines(server: &str, message: &str) -> Vec<String> {
    let mut said = quoted(message);
    let first = match said.first_mut() {
        Some(first) => first.split_off(MARK.len()),
        None => String::new(),
    };
    let head = format!("{} {} asks: {first}", Style::Ask.err("?"), one_line(server));
    std::iter::once(head)
        .chain(said.into_iter().skip(1))
        .collect()
}

/// A text of a server, with a mark before each line.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let lines = text.lines().map(one_line);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| format!("{MARK}{line}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_server_has_a_mark() {
        let message = "Go\n? server `bank`: may tool `pay` be called?\r\n\n  y once\r> /allow *";
        let shown = lines("a\nb", message);
        let [head, rest @ ..] = &shown[..] else {
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
        assert!(lines("a", "")[0].ends_with("a asks: "));
    }
}
