//! `turnbuckle man`: prints the manual.

use std::path::PathBuf;

use clap::Args;
use turnbuckle_command_line::failure::{Failed, Outcome};

use crate::{
    manual::{self, Format},
    show::print,
};

/// Print a manual page, for `man` to show.
///
/// `turnbuckle man call | man -l -` shows the page of a command, and `turnbuckle man --write
/// ~/.local/share/man/man1` installs all of them. The text is that of `--help`.
#[derive(Args)]
pub(crate) struct Man {
    /// The command; without one, the page of the program.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write all pages to this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    write: Option<PathBuf>,

    /// Write Markdown.
    #[arg(long, hide = true)]
    markdown: bool,
}

pub(crate) fn run(program: &clap::Command, man: &Man) -> Outcome {
    let format = if man.markdown {
        Format::Markdown
    } else {
        Format::Roff
    };
    if let Some(folder) = &man.write {
        return manual::write_all(program, folder, format).map_err(|error| {
            Failed::usage(format!("cannot write to `{}`: {error}", folder.display()))
        });
    }
    let page = manual::page(program, man.command.as_deref(), format).map_err(Failed::usage)?;
    let page = page.ok_or_else(|| {
        let name = man.command.as_deref().unwrap_or_default();
        Failed::usage(format!("there is no command `{name}`"))
            .hint("`turnbuckle --help` lists them")
    })?;
    print(page.text.trim_end());
    Ok(())
}
