//! Suggests servers, and their tools, prompts and resources.

use serde_json::Value;
use turnbuckle_command_line::target;

use super::{Candidate, Suggestions, argument, line::CommandLine, offer::Listing};

/// The suggestions for a word of a command.
pub(super) fn next(line: &CommandLine<'_>) -> Suggestions {
    let place = line.words.len();
    let these = |all| Suggestions::These(all);
    match (line.command_name(), place) {
        ("record" | "replay", 0) => Suggestions::Files,
        ("diff", 0 | 1) if is_path(&line.current) => Suggestions::Files,
        ("completions", 0) => these(shells()),
        ("serve" | "servers" | "man" | "completions", _) => these(Vec::new()),
        ("diff" | "record", 1) | ("inspect", _) | (_, 0) => these(servers(line)),
        ("list", 1) => these(kinds()),
        ("tasks", 1) => these(actions()),
        (_, _) => of_server(line),
    }
}

/// The suggestions from the server of a command.
fn of_server(line: &CommandLine<'_>) -> Suggestions {
    let Some(offer) = Listing::of(line) else {
        return Suggestions::These(Vec::new());
    };
    let place = line.words.len();
    let all = match (line.command_name(), place) {
        ("call" | "load", 1) => offer.tools(),
        ("call" | "load", _) => return argument::of_tool(line, &offer),
        ("get", 1) => offer.prompts(),
        ("read", 1) | ("watch", _) => offer.resources(),
        ("complete", 1) => {
            let mut all = offer.prompts();
            all.extend(offer.templates());
            all
        }
        ("get" | "complete" | "read", _) => argument::of_prompt(line, &offer),
        _ => Vec::new(),
    };
    Suggestions::These(all)
}

/// The servers in config files.
pub(super) fn servers(line: &CommandLine<'_>) -> Vec<Candidate> {
    let options = super::offer::options(line);
    let config = options.as_ref().and_then(|options| options.config.as_ref());
    let Ok((config_files, _)) = target::config_files(config) else {
        return Vec::new();
    };
    let mut all: Vec<Candidate> = Vec::new();
    for (place, entry) in config_files.entries().filter(|(_, entry)| entry.is_enabled) {
        if all.iter().all(|known| known.text != entry.name) {
            all.push(Candidate::new(&entry.name, place.host.to_string()));
        }
    }
    all
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.contains('.')
}

fn kinds() -> Vec<Candidate> {
    let kinds = ["tools", "prompts", "resources"];
    kinds.map(|kind| Candidate::new(kind, "")).to_vec()
}

fn actions() -> Vec<Candidate> {
    let actions = ["list", "get", "result", "cancel"];
    actions.map(|action| Candidate::new(action, "")).to_vec()
}

fn shells() -> Vec<Candidate> {
    let shells = ["bash", "zsh", "fish"];
    shells.map(|shell| Candidate::new(shell, "")).to_vec()
}

/// The first line of a description.
pub(super) fn first_line(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
