//! `turnbuckle servers`: lists the servers in the config files on this machine.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;
use turnbuckle_command_line::{
    control::tell,
    failure::Outcome,
    style::Style,
    target::{self, Masked},
    trust,
};
use turnbuckle_host::config::{ConfigFiles, Entry, Launch, Place, PlaceOwner};

use crate::show::{Table, print, print_json};

/// List the servers that config files name, where they are, and what is wrong with them.
///
/// The files of Claude Desktop and Code, Cursor, VS Code, Codex, Windsurf, Zed, Gemini CLI and
/// others are looked for in the usual places, those of the project first. Values that a
/// file tells the editor to ask for (`${input:api-key}`) are taken from the environment
/// (`TURNBUCKLE_INPUT_API_KEY`), or asked for at the terminal when the server is used.
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
    let (config_files, strange) = target::config_files(servers.config.as_ref())?;
    let hidden = Hidden::of(&config_files, servers.config.as_ref());
    if servers.json {
        let files: Vec<_> = config_files
            .files
            .iter()
            .map(|(place, file)| match file {
                Ok(file) => json!({
                    "host": place.host,
                    "file": place.path,
                    "trusted": is_trusted(place),
                    "servers": file.entries.iter().map(|it| hidden.described(it)).collect::<Vec<_>>(),
                }),
                Err(error) => {
                    json!({"host": place.host, "file": place.path, "problem": error.to_string()})
                }
            })
            .collect();
        return print_json(&json!({"files": files}));
    }
    for (place, file) in &config_files.files {
        let title = format!("{} · {}", place.host, place.path.display());
        let title = Style::Strong.out(&title);
        if is_trusted(place) {
            print(&title);
        } else {
            let mark = "of a project, and you have not agreed to use it";
            print(&format!("{title} · {}", Style::Warn.out(mark)));
        }
        match file {
            Ok(file) => table(&file.entries, &hidden)
                .lines()
                .iter()
                .for_each(|line| print(line)),
            Err(error) => print(&format!("  {}", Style::Bad.out(&error.to_string()))),
        }
    }
    for place in &strange {
        tell(&target::somebody_elses(&place.path));
    }
    if config_files.files.is_empty() {
        tell("no config file with servers was found; `--all` lists the places that were searched");
    }
    if servers.all {
        for place in &config_files.absent {
            print(&Style::Dim.out(&format!(
                "not found: {} ({})",
                place.path.display(),
                place.host
            )));
        }
    }
    Ok(())
}

/// Whether the servers of a file may be used without asking the user.
fn is_trusted(place: &Place) -> bool {
    place.owner != PlaceOwner::Project || trust::is_trusted(&place.path)
}

fn table(entries: &[Entry], hidden: &Hidden) -> Table {
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
        let scope = entry.scope.as_ref().map(|scope| format!("only in {scope}"));
        let by = hidden.by(entry);
        let by = by.map(|file| {
            format!(
                "not used: `{}` has a server of the same name",
                file.display()
            )
        });
        let notes: Vec<String> = scope.into_iter().chain(by).collect();
        table.row(vec![
            (entry.name.clone(), Some(Style::Strong)),
            (mark.to_owned(), Some(Style::Dim)),
            (what, style),
            (notes.join("; "), Some(Style::Dim)),
        ]);
    }
    table
}

/// For names with several entries, the entries that commands use.
struct Hidden {
    taken: BTreeMap<String, Entry>,
    /// The entries that are used in this folder, by file and scope.
    counted: Vec<Entry>,
}

impl Hidden {
    fn of(config_files: &ConfigFiles, config: Option<&PathBuf>) -> Self {
        let counted: Vec<Entry> = config_files.entries().map(|(_, it)| it.clone()).collect();
        let names = counted.iter().map(|entry| entry.name.clone());
        let taken = names.filter_map(|name| {
            let entry = target::taken_of_several(config_files, &name, config)?;
            Some((name, entry))
        });
        Self {
            taken: taken.collect(),
            counted,
        }
    }

    /// The file with the entry that is used instead of this one.
    fn by(&self, entry: &Entry) -> Option<&Path> {
        let is_counted = self.counted.iter().any(|other| is_same(other, entry));
        let taken = self.taken.get(&entry.name).filter(|_| is_counted)?;
        (!is_same(taken, entry)).then_some(taken.file.as_path())
    }

    /// An entry as JSON.
    fn described(&self, entry: &Entry) -> serde_json::Value {
        let mut described = described(entry);
        if let Some(file) = self.by(entry) {
            described["hiddenBy"] = json!(file);
        }
        described
    }
}

fn is_same(one: &Entry, other: &Entry) -> bool {
    (&one.file, &one.name, &one.scope) == (&other.file, &other.name, &other.scope)
}

/// What a launch lacks, as far as this is known without starting it.
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

/// The launch in a form that may be shown: the values of variables and headers are secrets and are not
/// shown.
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
