//! The manual page of a command, in the requested format.

use std::{fs, io, path::Path};

use clap::Command;

use super::markdown;

/// A page of the manual, and the name of its file.
pub(crate) struct Page {
    pub(crate) file: String,
    pub(crate) text: String,
}

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// roff, for `man`.
    Roff,
    /// Markdown, for the repository.
    Markdown,
}

/// The page of the program, or of one of its commands.
pub(crate) fn page(
    program: &Command,
    name: Option<&str>,
    format: Format,
) -> io::Result<Option<Page>> {
    let mut program = program.clone();
    program.build();
    match name {
        None => render(&program, format).map(Some),
        Some(name) => {
            let command = shown(&program).find(|command| command.get_name() == name);
            command.map(|command| render(command, format)).transpose()
        }
    }
}

/// Writes every page to a folder.
pub(crate) fn write_all(program: &Command, folder: &Path, format: Format) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut program = program.clone();
    program.build();
    for command in shown(&program).chain([&program]) {
        let page = render(command, format)?;
        fs::write(folder.join(page.file), page.text)?;
    }
    Ok(())
}

fn shown(program: &Command) -> impl Iterator<Item = &Command> {
    let commands = program.get_subcommands();
    commands.filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn render(command: &Command, format: Format) -> io::Result<Page> {
    let is_program = command.get_subcommands().next().is_some();
    match format {
        Format::Roff => {
            let name = command
                .get_bin_name()
                .unwrap_or("turnbuckle")
                .replace(' ', "-");
            let mut bytes = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut bytes)?;
            let text = String::from_utf8(bytes).map_err(io::Error::other)?;
            let file = format!("{name}.1");
            Ok(Page { file, text })
        }
        Format::Markdown if is_program => Ok(Page {
            file: "README.md".to_owned(),
            text: markdown::index(command, shown(command)),
        }),
        Format::Markdown => Ok(Page {
            file: format!("{}.md", command.get_name()),
            text: markdown::page(command),
        }),
    }
}
