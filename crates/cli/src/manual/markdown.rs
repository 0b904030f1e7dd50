//! Manual pages in Markdown, for the repository.

use std::fmt::Write as _;

use clap::{Arg, Command, builder::StyledStr};

/// The page with links to all others.
pub(super) fn index<'c>(program: &Command, commands: impl Iterator<Item = &'c Command>) -> String {
    let mut text = String::from("# The command line\n\n");
    text.push_str(&paragraphs(program));
    text.push_str("| command | what it does |\n|---|---|\n");
    for command in commands {
        let (name, about) = (command.get_name(), plain(command.get_about()));
        line(&mut text, &format!("| [`{name}`]({name}.md) | {about} |"));
    }
    options(&mut text, program);
    let codes = plain(program.get_after_help());
    line(&mut text, &format!("\n```text\n{codes}\n```"));
    text
}

/// The page of one command.
pub(super) fn page(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut text = format!("# {name}\n\n");
    text.push_str(&paragraphs(command));
    let usage = command.clone().render_usage().to_string();
    line(&mut text, &format!("```text\n{}\n```", usage.trim()));
    options(&mut text, command);
    line(
        &mut text,
        "\n[All commands](README.md), with the exit codes.",
    );
    text
}

fn paragraphs(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    format!("{}\n\n", plain(about))
}

/// Arguments and options, under the headings of the help.
fn options(text: &mut String, command: &Command) {
    let all = || command.get_arguments().filter(|one| !one.is_hide_set());
    let mut headings: Vec<&str> = Vec::new();
    for one in all() {
        if !headings.contains(&heading(one)) {
            headings.push(heading(one));
        }
    }
    // As in the help, the headings that are specific to the command come first.
    headings.sort_by_key(|heading| !matches!(*heading, "Arguments" | "Options"));
    for title in headings {
        line(text, &format!("\n## {title}\n"));
        for one in all().filter(|one| heading(one) == title) {
            let help = one.get_long_help().or_else(|| one.get_help());
            let help = plain(help);
            let end = if help.ends_with('.') { "" } else { "." };
            let (shown, details) = (shown(one), details(one));
            line(text, &format!("- `{shown}`: {help}{end}{details}"));
        }
    }
}

fn heading(one: &Arg) -> &str {
    let usual = if one.is_positional() {
        "Arguments"
    } else {
        "Options"
    };
    one.get_help_heading().unwrap_or(usual)
}

/// `-H, --header <NAME: VALUE>`
fn shown(one: &Arg) -> String {
    let names = [
        one.get_short().map(|short| format!("-{short}")),
        one.get_long().map(|long| format!("--{long}")),
    ];
    let mut shown = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if one.is_positional() || one.get_action().takes_values() {
        for name in one.get_value_names().into_iter().flatten() {
            let space = if shown.is_empty() { "" } else { " " };
            // Writing to a String cannot fail.
            let _ = write!(shown, "{space}<{name}>");
        }
    }
    shown
}

/// The default and the possible values.
fn details(one: &Arg) -> String {
    let mut details = String::new();
    if !one.get_action().takes_values() {
        return details;
    }
    let names = one.get_possible_values();
    let names: Vec<_> = names
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !names.is_empty() {
        let _ = write!(details, " One of {}.", names.join(", "));
    }
    let defaults = one.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() {
        let _ = write!(details, " Default: `{}`.", defaults.join(" "));
    }
    details
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
