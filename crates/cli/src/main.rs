//! The `turnbuckle` binary: serve, inspect and script any Model Context Protocol server.
//!
//! Stdout is for data (and, in a stdio server, only for the protocol); all messages to the
//! user go to stderr.

// `control::tell` prints on stderr and does not panic if stderr is closed.
#![deny(clippy::print_stderr)]

mod ask;
mod cache;
mod command;
mod demo;
mod known_revision;
mod listen;
mod log;
mod manual;
mod offer;
mod recording;
mod replicas;
mod runtime;
mod session;
mod show;
mod signature;
mod suggest;
mod time_limit;

use std::process::ExitCode;

use clap::{
    CommandFactory as _, Parser, Subcommand,
    error::{ContextKind, ErrorKind},
};
use turnbuckle_command_line::{control, failure, style};

/// Serve, inspect and script any Model Context Protocol server, of any revision.
///
/// A server is named by its URL, by its name in a config file that you have already (`turnbuckle
/// servers` lists them), or by a command after `--`. The revision that it speaks is detected.
#[derive(Parser)]
#[command(name = "turnbuckle", version, propagate_version = true, after_help = failure::EXIT_CODES)]
struct Arguments {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: style::Colour,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Up(command::up::Up),
    Lock(command::up::lock::Lock),
    Serve(command::serve::Serve),
    Inspect(command::inspect::Inspect),
    List(command::list::List),
    Call(command::call::Call),
    Read(command::read::Read),
    Get(command::get::Get),
    Chat(command::chat::Chat),
    Complete(command::complete::Complete),
    Watch(command::watch::Watch),
    Tasks(command::tasks::Tasks),
    Login(command::login::Login),
    Logout(command::login::Logout),
    Record(command::record::Record),
    Replay(command::replay::Replay),
    Diff(command::diff::Diff),
    Load(command::load::Load),
    Test(command::test::Test),
    Doctor(command::doctor::Doctor),
    Servers(command::servers::Servers),
    New(command::new::New),
    Pack(command::pack::Pack),
    Completions(command::completions::Completions),
    Man(command::man::Man),
    #[command(name = "__complete", hide = true)]
    Suggest(command::completions::Suggest),
}

impl Command {
    /// Whether the log of this command is read later, and by others than the user who started it.
    fn runs_until_stopped(&self) -> bool {
        matches!(self, Self::Up(_) | Self::Serve(_) | Self::Inspect(_))
    }

    /// Whether the output is JSON for a program.
    fn is_json(&self) -> bool {
        match self {
            Self::List(list) => list.json,
            Self::Call(call) => call.request.json,
            Self::Read(read) => read.request.json,
            Self::Get(get) => get.request.json,
            Self::Complete(complete) => complete.json,
            Self::Watch(watch) => watch.json,
            Self::Tasks(tasks) => tasks.json,
            Self::Diff(diff) => diff.json,
            Self::Lock(lock) => lock.json,
            Self::Load(load) => load.json,
            Self::Test(test) => test.json,
            Self::Doctor(doctor) => doctor.json,
            Self::Servers(servers) => servers.json,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_parsed(error),
    };
    if arguments.command.runs_until_stopped() {
        log::open();
    } else {
        log::open_plain();
    }
    style::choose(arguments.color);
    let outcome = match &arguments.command {
        Command::Up(up) => command::up::run(up),
        Command::Lock(lock) => command::up::lock::run(lock),
        Command::Serve(serve) => command::serve::run(serve),
        Command::Inspect(inspect) => command::inspect::run(inspect),
        Command::List(list) => command::list::run(list),
        Command::Call(call) => command::call::run(call),
        Command::Read(read) => command::read::run(read),
        Command::Get(get) => command::get::run(get),
        Command::Chat(chat) => command::chat::run(chat),
        Command::Complete(complete) => command::complete::run(complete),
        Command::Watch(watch) => command::watch::run(watch),
        Command::Tasks(tasks) => command::tasks::run(tasks),
        Command::Login(login) => command::login::run(login),
        Command::Logout(logout) => command::login::leave(logout),
        Command::Record(record) => command::record::run(record),
        Command::Replay(replay) => command::replay::run(replay),
        Command::Diff(diff) => command::diff::run(diff),
        Command::Load(load) => command::load::run(load),
        Command::Test(test) => command::test::run(test),
        Command::Doctor(doctor) => command::doctor::run(doctor),
        Command::Servers(servers) => command::servers::run(servers),
        Command::New(new) => command::new::run(new),
        Command::Pack(pack) => command::pack::run(pack),
        Command::Completions(completions) => {
            command::completions::run(completions);
            Ok(())
        }
        Command::Man(man) => command::man::run(&Arguments::command(), man),
        Command::Suggest(asked) => {
            command::completions::suggest(&Arguments::command(), asked);
            Ok(())
        }
    };
    // A command whose output could not be printed has failed.
    match outcome.and_then(|()| show::all_printed()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            // Only one JSON object is printed: a result that is itself an error was printed already.
            if arguments.command.is_json() && !show::has_printed() {
                show::print(&failed.to_json().to_string());
            }
            end_with(&failed)
        }
    }
}

/// Prints the failure, and returns its exit code.
fn end_with(failed: &failure::Failed) -> ExitCode {
    if !failed.is_quiet {
        control::tell(&failed.to_string());
    }
    failed.exit_code()
}

/// Ends a command whose command line asks for help or is invalid.
fn not_parsed(mut error: clap::Error) -> ExitCode {
    // For an unknown option, clap would suggest to put it after `--`, where the command of a server goes.
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    let printed = error.print();
    if error.use_stderr() {
        return ExitCode::from(failure::Code::Usage as u8);
    }
    match show::help_printed(printed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => end_with(&failed),
    }
}
