//! Texts that a user has to agree to: first only their beginnings, and in full if the user asks for it.

use turnbuckle_command_line::style::Style;

use crate::show::{rows, tell};

/// How many characters of a text are shown at first.
const MAX_CHARACTERS: usize = 2000;

/// How many lines of a text are shown at first, so that the question stays on the screen.
const MAX_LINES: usize = 40;

/// How many texts are shown at first.
const MAX_TEXTS: usize = 20;

/// The texts of a question, each with a name.
#[derive(Default)]
pub(super) struct Excerpts(Vec<(&'static str, String)>);

impl Excerpts {
    pub(super) fn add(&mut self, name: &'static str, text: impl Into<String>) {
        self.0.push((name, text.into()));
    }

    /// Shows the beginning of each text, and how much is left out.
    pub(super) fn show(&self) {
        for (name, text) in self.0.iter().take(MAX_TEXTS) {
            let begin = beginning(text);
            whole(name, begin);
            let rest = text[begin.len()..].chars().count();
            if rest > 0 {
                tell(&Style::Warn.err(&format!("  … and {rest} more characters")));
            }
        }
        let rest = self.0.len().saturating_sub(MAX_TEXTS);
        if rest > 0 {
            tell(&Style::Warn.err(&format!("  … and {rest} more texts")));
        }
    }

    /// Shows all texts in full.
    pub(super) fn show_all(&self) {
        for (name, text) in &self.0 {
            whole(name, text);
        }
    }

    #[cfg(test)]
    pub(super) fn to_text(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|(name, text)| format!("{name}: {text}\n"));
        lines.collect()
    }

    /// Whether [`show`](Self::show) leaves something out.
    pub(super) fn are_cut(&self) -> bool {
        let is_cut = |(_, text): &(_, String)| beginning(text).len() < text.len();
        self.0.len() > MAX_TEXTS || self.0.iter().any(is_cut)
    }
}

fn beginning(text: &str) -> &str {
    let mut lines = 0;
    let end = text
        .char_indices()
        .enumerate()
        .find(|(count, (_, letter))| {
            lines += usize::from(*letter == '\n');
            *count == MAX_CHARACTERS || lines == MAX_LINES
        });
    match end {
        Some((_, (end, _))) => &text[..end],
        None => text,
    }
}

/// Shows a text with its name before each row, so that a server cannot imitate our own lines.
fn whole(name: &str, text: &str) {
    let name = format!("{name}:");
    for line in text.lines() {
        let line = line.replace('\t', "    ");
        for row in rows(&line, name.len() + 3) {
            tell(&format!("  {} {row}", Style::Dim.err(&name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        for (text, shown) in [
            ("ü".repeat(MAX_CHARACTERS), MAX_CHARACTERS),
            ("ü".repeat(MAX_CHARACTERS + 1), MAX_CHARACTERS),
            ("\n".repeat(MAX_LINES), MAX_LINES - 1),
            ("x\n".repeat(MAX_LINES - 1), 2 * (MAX_LINES - 1)),
        ] {
            assert_eq!(beginning(&text).chars().count(), shown);
            let mut excerpts = Excerpts::default();
            let is_cut = text.chars().count() > shown;
            excerpts.add("it says", text);
            assert_eq!(excerpts.are_cut(), is_cut);
        }
        let mut many = Excerpts::default();
        for _ in 0..=MAX_TEXTS {
            assert!(!many.are_cut());
            many.add("user", "x");
        }
        assert!(many.are_cut());
    }
}
