//! The candidates for the word that is being typed.

use clap::Command;

use super::{
    line::{CommandLine, Wanted},
    option, word,
};

/// One thing that may be typed, and a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) text: String,
    pub(crate) about: String,
}

/// What a shell should offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suggestions {
    /// These.
    These(Vec<Candidate>),
    /// Names of files, which the shell knows best.
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

/// What may be typed at the end of these words, the last of which is not finished. The first word is
/// the one after the program's name. The words after it may name the server.
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
