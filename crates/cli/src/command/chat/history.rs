//! The lines that were typed in earlier chats.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
};

use turnbuckle_base::{private, replace};

/// How many lines are kept.
const MAX_LINES: usize = 1000;

/// How many bytes of the file are read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The lines that were typed, the oldest first. A line is stored as JSON, because it may contain line breaks.
#[derive(Debug, Default)]
pub(super) struct History {
    file: Option<PathBuf>,
    lines: Vec<String>,
}

impl History {
    /// Reads the history of earlier chats. It is empty if the file cannot be read.
    pub(super) fn open(file: PathBuf) -> Self {
        let mut lines: Vec<String> = Vec::new();
        if let Ok(opened) = File::open(&file) {
            let reader = BufReader::new(opened.take(MAX_BYTES));
            let read = reader.lines().map_while(Result::ok);
            lines = read
                .filter_map(|line| serde_json::from_str(&line).ok())
                .collect();
        }
        let excess = lines.len().saturating_sub(MAX_LINES);
        lines.drain(..excess);
        if excess > 0 {
            // The file is rewritten from time to time, so that it does not grow without limit.
            let text: Vec<_> = lines.iter().map(|line| written(line)).collect();
            let _ = replace::private(&file, text.concat().as_bytes());
        }
        Self {
            file: Some(file),
            lines,
        }
    }

    /// Adds a line. If the file cannot be written, the chat continues.
    pub(super) fn add(&mut self, line: &str) {
        if self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push(line.to_owned());
        let Some(file) = &self.file else { return };
        let file = private::options().create(true).append(true).open(file);
        if let Ok(mut file) = file {
            let _ = file.write_all(written(line).as_bytes());
        }
    }

    /// All lines, the oldest first.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The line with a number, counted from 1, or the last line that begins with a text.
    pub(super) fn find(&self, wanted: &str) -> Option<&str> {
        if wanted == "!" {
            return self.lines.last().map(String::as_str);
        }
        if let Ok(number) = wanted.parse::<usize>() {
            return self.lines.get(number.checked_sub(1)?).map(String::as_str);
        }
        let found = self
            .lines
            .iter()
            .rev()
            .find(|line| line.starts_with(wanted));
        found.map(String::as_str)
    }

    /// The last lines with their numbers.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = (usize, &str)> {
        let skipped = self.lines.len().saturating_sub(count);
        let lines = self.lines.iter().enumerate().skip(skipped);
        lines.map(|(index, line)| (index + 1, line.as_str()))
    }
}

fn written(line: &str) -> String {
    format!("{}\n", serde_json::Value::from(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_the_next_chat() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let mut history = History::open(file.clone());
        for line in ["one", "two\nlines", "two\nlines", "/tools"] {
            history.add(line);
        }
        let history = History::open(file);
        let lines: Vec<_> = history.last(2).collect();
        assert_eq!(lines, [(2, "two\nlines"), (3, "/tools")]);
        assert_eq!(history.find("!"), Some("/tools"));
        assert_eq!(history.find("1"), Some("one"));
        assert_eq!(history.find("two"), Some("two\nlines"));
        assert_eq!(history.find("9"), None);
    }
}
