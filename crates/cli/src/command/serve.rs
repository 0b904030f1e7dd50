//! `turnbuckle serve`: the built-in demo server.

use std::error::Error;

use clap::Args;
use turnbuckle::Stdio;

use crate::demo;

/// Serve the built-in demo server: tools, resources and prompts of every kind.
///
/// Point a client at it to see what the client can do: every content kind, progress, cancellation,
/// structured results, errors, templates, completion, pagination, and a list that changes.
#[derive(Args)]
pub(crate) struct Serve {
    /// Speak over stdin and stdout, one message a line.
    #[arg(long, required = true)]
    stdio: bool,
}

pub(crate) fn run(_serve: &Serve) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(demo::server().serve(Stdio))?)
}
