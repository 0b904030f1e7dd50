//! The candidates for the word that is being typed.

use clap::Command;

use super::{
    line::{CommandLine, Wanted},
    option, word,
};

/// One suggestion, with a short description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) text: String,
    pub(crate) about: String,
}

/// The suggestions for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suggestions {
    /// These candidates.
    These(Vec<Candidate>),
    /// File names, which the shell completes itself.
    Files,
}

impl Candidate {
    pub(super) fn new(text: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            about: about.into(),
        }
    }
}

/// The suggestions for the last of these words, which is not finished. The first word is
/// the one after the program's name. The words after it (`behind`) may name the server.
pub(crate) fn next(program: &Command, words: &[String], behind: &[String]) -> Suggestions {
    let line = CommandLine::read(program, words, behind);
    let all = match &line.wanted {
        Wanted::Command => option::commands(program),
        Wanted::Option => option::options(program, &line),
        Wanted::Value(argument) => return option::values(argument, &line),
        Wanted::Word => word::next(&line),
        Wanted::Nothing => return Suggestions::Files,
    };
    match all {
        Suggestions::Files => Suggestions::Files,
        Suggestions::These(all) => Suggestions::These(line.fitting(all)),
    }
}
