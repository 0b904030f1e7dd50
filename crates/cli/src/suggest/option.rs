//! Suggests commands, options and their values, as in the program's help.

use clap::{Arg, Command};
use turnbuckle::Revision;

use super::{Candidate, Suggestions, line::CommandLine, word};

/// Value names that mean files or folders.
const FILES: [&str; 4] = ["FILE", "FOLDER", "PATH", "PEM FILE"];

pub(super) fn commands(program: &Command) -> Suggestions {
    let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
    let all = shown.map(|one| Candidate::new(one.get_name(), about(one.get_about())));
    Suggestions::These(all.collect())
}

pub(super) fn options(program: &Command, line: &CommandLine<'_>) -> Suggestions {
    let all = line.command.into_iter().chain([program]);
    let options = all.flat_map(Command::get_arguments);
    let shown = options.filter(|option| !option.is_hide_set());
    let named = shown.filter_map(|option| {
        let text = format!("--{}", option.get_long()?);
        Some(Candidate::new(text, about(option.get_help())))
    });
    let mut named: Vec<Candidate> = named.collect();
    named.push(Candidate::new("--help", "Print help"));
    Suggestions::These(named)
}

/// The values of an option.
pub(super) fn values(option: &Arg, line: &CommandLine<'_>) -> Suggestions {
    let named = option.get_possible_values();
    if !named.is_empty() {
        let all = named.iter();
        let all = all.map(|value| Candidate::new(value.get_name(), about(value.get_help())));
        return Suggestions::These(line.fitting(all.collect()));
    }
    match option.get_id().as_str() {
        "revision" => {
            let all = Revision::ALL.iter();
            let all = all.map(|revision| Candidate::new(revision.to_string(), ""));
            return Suggestions::These(line.fitting(all.collect()));
        }
        "against" => return Suggestions::These(line.fitting(word::servers(line))),
        _ => {}
    }
    let mut names = option.get_value_names().into_iter().flatten();
    if names.any(|name| FILES.contains(&name.as_str())) {
        return Suggestions::Files;
    }
    Suggestions::These(Vec::new())
}

/// The first line of a help text.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
