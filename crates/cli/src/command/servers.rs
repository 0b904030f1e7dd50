//! `turnbuckle servers`: what the config files on this machine name.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use turnbuckle_command_line::{
    control::tell,
    failure::Outcome,
    style::Style,
    target::{self, Masked},
    trust,
};
use turnbuckle_host::config::{Entry, Launch, Place, PlaceOwner};

use crate::show::{Table, print, print_json};

/// List the servers that config files name, where they are, and what is wrong with them.
///
/// The files of Claude Desktop and Code, Cursor, VS Code, Codex, Windsurf, Zed, Gemini CLI and
/// others are looked for in the usual places, those of the project first. What a file would have an
/// editor ask for (`${input:api-key}`) is taken from the environment (`TURNBUCKLE_INPUT_API_KEY`), or
/// asked for at the terminal when the server is used.
#[derive(Args)]
pub(crate) struct Servers {
    /// Read this file and no other.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Say where files were looked for and not found.
    #[arg(long)]
    all: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(servers: &Servers) -> Outcome {
    let (catalogue, strange) = target::catalogue(servers.config.as_ref())?;
    if servers.json {
        let files: Vec<_> = catalogue
            .files
            .iter()
            .map(|(place, file)| match file {
                Ok(file) => json!({
                    "host": place.host,
                    "file": place.path,
                    "trusted": is_trusted(place),
                    "servers": file.entries.iter().map(described).collect::<Vec<_>>(),
                }),
                Err(error) => {
                    json!({"host": place.host, "file": place.path, "problem": error.to_string()})
                }
            })
            .collect();
        return print_json(&json!({"files": files}));
    }
    for (place, file) in &catalogue.files {
        let title = format!("{} · {}", place.host, place.path.display());
        let title = Style::Strong.out(&title);
        if is_trusted(place) {
            print(&title);
        } else {
            let mark = "of a project, and you have not agreed to use it";
            print(&format!("{title} · {}", Style::Warn.out(mark)));
        }
        match file {
            Ok(file) => table(&file.entries)
                .lines()
                .iter()
                .for_each(|line| print(line)),
            Err(error) => print(&format!("  {}", Style::Bad.out(&error.to_string()))),
        }
    }
    for place in &strange {
        tell(&target::somebody_elses(&place.path));
    }
    if catalogue.files.is_empty() {
        eprintln!("no config file with servers was found; `--all` says where they were looked for");
    }
    if servers.all {
        for place in &catalogue.absent {
            print(&Style::Dim.out(&format!(
                "not there: {} ({})",
                place.path.display(),
                place.host
            )));
        }
    }
    Ok(())
}

/// Whether the servers of a file may be used without a question.
fn is_trusted(place: &Place) -> bool {
    place.owner != PlaceOwner::Project || trust::is_trusted(&place.path)
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::default();
    for entry in entries {
        let (what, style) = match entry.launch(&Masked) {
            Ok(launch) => match missing(&launch) {
                Some(missing) => (format!("{} ({missing})", line(&launch)), Some(Style::Bad)),
                None => (line(&launch), None),
            },
            Err(error) => (error.to_string(), Some(Style::Bad)),
        };
        let mark = if entry.is_enabled { "" } else { "off" };
        table.row(vec![
            (entry.name.clone(), Some(Style::Strong)),
            (mark.to_owned(), Some(Style::Dim)),
            (what, style),
            (
                entry
                    .scope
                    .as_ref()
                    .map(|scope| format!("only in {scope}"))
                    .unwrap_or_default(),
                Some(Style::Dim),
            ),
        ]);
    }
    table
}

/// What is wrong with a launch, as far as can be told without starting it.
fn missing(launch: &Launch) -> Option<String> {
    let Launch::Command {
        program, folder, ..
    } = launch
    else {
        return None;
    };
    let is_there = target::is_program(program, folder.as_deref());
    (!is_there).then(|| format!("there is no program `{program}`"))
}

/// What is started or connected to, as it may be shown. Values of variables and headers are secrets:
/// not shown.
pub(super) fn line(launch: &Launch) -> String {
    match launch {
        Launch::Command {
            program, arguments, ..
        } => std::iter::once(program)
            .chain(arguments)
            .cloned()
            .collect::<Vec<_>>()
            .join(" "),
        Launch::Remote(remote) => remote.url.clone(),
    }
}

fn described(entry: &Entry) -> serde_json::Value {
    let mut described = json!({
        "name": entry.name,
        "address": entry.address(),
        "enabled": entry.is_enabled,
    });
    match entry.launch(&Masked) {
        Ok(launch) => {
            described["target"] = line(&launch).into();
            if let Some(missing) = missing(&launch) {
                described["problem"] = missing.into();
            }
        }
        Err(error) => described["problem"] = error.to_string().into(),
    }
    if let Some(scope) = &entry.scope {
        described["scope"] = scope.as_str().into();
    }
    described
}
