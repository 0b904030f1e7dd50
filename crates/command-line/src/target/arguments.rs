//! The arguments of every command that connects: the options, and a command after `--`.

use clap::Args;

use super::{Options, Server, find};
use crate::failure::Outcome;

/// The server, where it is a command, and how to connect. The words of a command line name the
/// others.
#[derive(Args, Clone, Debug)]
pub struct ServerArguments {
    /// How to connect.
    #[command(flatten)]
    pub options: Options,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl ServerArguments {
    /// Returns the server, and the words after it.
    pub fn split<'w>(&self, words: &'w [String]) -> Outcome<(Server, &'w [String])> {
        self.options.header_pairs()?;
        find::split(words, &self.command, self.options.lookup())
    }
}
