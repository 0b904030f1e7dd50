//! What `call`, `read` and `get` are told alike.

use std::future::Future;

use clap::Args;

use super::block_on;
use crate::{
    ask::AskOptions,
    exit::Outcome,
    session::{self, Session},
    show::Media,
    target::{Aim, Server},
};

/// How a request is made, answered and shown.
#[derive(Args)]
pub(crate) struct Request {
    /// Print the result as JSON, exactly as the server wrote it.
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) media: Media,

    #[command(flatten)]
    pub(super) asks: AskOptions,

    #[command(flatten)]
    pub(super) aim: Aim,
}

impl Request {
    /// Connects, and does the work.
    pub(super) fn run<F>(&self, server: &Server, work: impl FnOnce(Session) -> F) -> Outcome
    where
        F: Future<Output = Outcome>,
    {
        let options = &self.aim.options;
        block_on(session::with(options, Some(&self.asks), server, work))
    }
}
