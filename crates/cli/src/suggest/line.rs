//! Parses a command line that is being typed, as far as it goes.

use clap::{Arg, Command};

use super::Candidate;

/// A command line up to the word that is being typed.
pub(super) struct CommandLine<'p> {
    /// The command, once there is one.
    pub(super) command: Option<&'p Command>,
    /// The words that are not options, without the command.
    pub(super) words: Vec<String>,
    /// The options, as they were typed, each with its value.
    pub(super) options: Vec<Vec<String>>,
    /// The word that is being typed.
    pub(super) current: String,
    /// The command of the server, if it is already written after `--`, behind the word that is being
    /// typed.
    pub(super) given: Vec<String>,
    /// What is expected at this place.
    pub(super) wanted: Wanted<'p>,
}

/// Commands whose first word is a server, unless a command is given after `--`.
const SERVER_FIRST: [&str; 8] = [
    "call", "complete", "get", "list", "load", "read", "tasks", "watch",
];

/// What is expected at the end.
pub(super) enum Wanted<'p> {
    Command,
    Option,
    /// The value of an option.
    Value(&'p Arg),
    Word,
    /// Something unknown: the command of a server.
    Nothing,
}

impl<'p> CommandLine<'p> {
    /// Parses the words, the last of which is being typed, and the words behind it.
    pub(super) fn read(program: &'p Command, words: &[String], behind: &[String]) -> Self {
        let mut line = Self::read_typed(program, words);
        let mut behind = behind.iter().map(|word| unquoted(word));
        if behind.any(|word| word == "--") && SERVER_FIRST.contains(&line.command_name()) {
            line.given = behind.collect();
        }
        if !line.given.is_empty() {
            // The command takes the place of the server's name.
            line.words.insert(0, String::new());
        }
        line
    }

    fn read_typed(program: &'p Command, words: &[String]) -> Self {
        let (current, before) = words.split_last().map_or_else(
            || (String::new(), &[][..]),
            |(current, before)| (unquoted(current), before),
        );
        let mut line = Self {
            command: None,
            words: Vec::new(),
            options: Vec::new(),
            current,
            given: Vec::new(),
            wanted: Wanted::Command,
        };
        let mut before = before.iter().map(|word| unquoted(word));
        while let Some(word) = before.next() {
            if word == "--" {
                line.wanted = Wanted::Nothing;
                return line;
            }
            if word.starts_with('-') && word.len() > 1 {
                let Some(option) = line.value_of(program, &word) else {
                    line.options.push(vec![word]);
                    continue;
                };
                let Some(value) = before.next() else {
                    line.wanted = Wanted::Value(option);
                    return line;
                };
                line.options.push(vec![word, value]);
            } else if line.command.is_some() {
                line.words.push(word);
            } else {
                line.command = program.find_subcommand(&word);
            }
        }
        line.wanted = match (&line.command, line.current.starts_with('-')) {
            (_, true) => Wanted::Option,
            (None, false) => Wanted::Command,
            (Some(_), false) => Wanted::Word,
        };
        line
    }

    /// The option whose value the next word is, if there is one.
    fn value_of(&self, program: &'p Command, word: &str) -> Option<&'p Arg> {
        if word.contains('=') {
            return None;
        }
        let all = self.command.into_iter().chain([program]);
        let mut options = all.flat_map(Command::get_arguments);
        let option = options.find(|option| {
            let long = option.get_long().map(|long| format!("--{long}"));
            let short = option.get_short().map(|short| format!("-{short}"));
            long.as_deref() == Some(word) || short.as_deref() == Some(word)
        })?;
        option.get_action().takes_values().then_some(option)
    }

    /// The candidates that begin with the typed text.
    pub(super) fn fitting(&self, all: Vec<Candidate>) -> Vec<Candidate> {
        let fitting = all.into_iter();
        fitting
            .filter(|candidate| candidate.text.starts_with(&self.current))
            .collect()
    }

    /// The name of the command.
    pub(super) fn command_name(&self) -> &str {
        self.command.map_or("", Command::get_name)
    }
}

/// A word without the quotes and backslashes of the shell. The word may be unfinished.
fn unquoted(word: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => text.extend(letters.next()),
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_the_shell_are_taken_off() {
        for (typed, meant) in [
            ("a=b", "a=b"),
            (r"a\ b", "a b"),
            ("'a \"b'", "a \"b"),
            ("\"a b", "a b"),
            (r"x\", "x"),
        ] {
            assert_eq!(unquoted(typed), meant);
        }
    }
}
