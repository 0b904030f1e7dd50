//! The `turnbuckle` binary: serve, inspect and script any Model Context Protocol server.
//!
//! Stdout belongs to data (and, in a stdio server, to the protocol alone); everything said to
//! a person goes to stderr.

mod command;
mod demo;
mod log;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Serve, inspect and script any Model Context Protocol server, of any revision.
#[derive(Parser)]
#[command(name = "turnbuckle", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(command::serve::Serve),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log::open();
    let outcome = match arguments.command {
        Command::Serve(serve) => command::serve::run(&serve),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", command::report(&*error));
            ExitCode::FAILURE
        }
    }
}
