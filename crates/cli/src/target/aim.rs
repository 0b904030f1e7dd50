//! What every command that connects is told: a command after `--`, and how to connect.

use clap::Args;

use super::{Options, Server};
use crate::exit::Outcome;

/// The server, where it is a command, and how to connect. The words of a command line name the
/// others.
#[derive(Args, Clone, Debug)]
pub(crate) struct Aim {
    #[command(flatten)]
    pub(crate) options: Options,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl Aim {
    /// The server, and the words after it.
    pub(crate) fn split<'w>(&self, words: &'w [String]) -> Outcome<(Server, &'w [String])> {
        self.options.header_pairs()?;
        super::split(words, &self.command, self.options.config.as_ref())
    }
}
