//! The options that `call`, `read` and `get` have in common.

use std::future::Future;

use clap::Args;
use turnbuckle_command_line::{
    failure::Outcome,
    target::{Server, ServerArguments},
};

use crate::{
    ask::AskOptions,
    runtime::block_on,
    session::{self, Session},
    show::Media,
};

/// How a request is made, answered and shown.
#[derive(Args)]
pub(crate) struct Request {
    /// Print the result as JSON, exactly as the server wrote it.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(super) media: Media,

    #[command(flatten)]
    pub(super) asks: AskOptions,

    #[command(flatten)]
    pub(super) server: ServerArguments,
}

impl Request {
    /// Connects and runs `work`.
    pub(super) fn run<F>(&self, server: &Server, work: impl FnOnce(Session) -> F) -> Outcome
    where
        F: Future<Output = Outcome>,
    {
        let options = &self.server.options;
        block_on(session::with(options, Some(&self.asks), server, work))
    }
}
