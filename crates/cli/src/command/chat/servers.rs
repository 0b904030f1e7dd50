//! The servers of a chat, and the folder for its files.

use std::{collections::HashMap, path::PathBuf};

use turnbuckle::host::{HostBuilder, ServerId, ServerSpec};
use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
    input::ask_missing,
    target::{self, Lookup, Options, Process, Server},
};

use super::allow::Allowed;

/// Adds the named servers, or those of the config files if none are named.
pub(super) fn add(
    builder: HostBuilder,
    words: &[String],
    command: &[String],
    lookup: Lookup<'_>,
    allowed: &Allowed,
) -> Outcome<HostBuilder> {
    let mut servers = Vec::new();
    for word in words {
        servers.push(target::find(word, lookup)?);
    }
    if !command.is_empty() {
        servers.push(target::split(&[], command, lookup)?.0);
    }
    if servers.is_empty() {
        return from_files(builder, lookup.config, allowed);
    }
    let mut builder = builder.variables(Process);
    let mut all = Vec::new();
    for mut server in servers {
        let id = unique(&id_of(&server), &all);
        allowed.start(&id);
        builder = match server.entry.take() {
            // Uses all settings in the file, not only how the server is started.
            Some(mut entry) => {
                entry.name.clone_from(&id);
                builder.entry(entry)
            }
            None => builder.server(id.as_str(), ServerSpec::from(server.launch.clone())),
        };
        all.push((id, server));
    }
    Ok(with_tokens(builder, all))
}

/// The servers of the given file, or of all config files. Files that were not given may belong to a
/// project, so the user is asked about their servers before they start.
fn from_files(
    builder: HostBuilder,
    config: Option<&PathBuf>,
    allowed: &Allowed,
) -> Outcome<HostBuilder> {
    let (config_files, strange) = target::config_files(config)?;
    for place in &strange {
        tell(&target::somebody_elses(&place.path));
    }
    let mut builder = builder.variables(Process);
    for (place, file) in &config_files.files {
        match file {
            Ok(_) => builder = builder.load(&place.path).map_err(Failed::usage)?,
            Err(error) => tell(&format!("warning: {}: {error}", place.path.display())),
        }
    }
    let mut all: Vec<(String, Server)> = Vec::new();
    for (_, entry) in config_files.entries() {
        if config.is_some() {
            allowed.start(&entry.name);
            ask_missing(entry, &Process)?;
        }
        // Problems with an entry are among the notes of the host.
        if let Ok(server) = target::configured(entry, &entry.name, config) {
            all.push((entry.name.clone(), server));
        }
    }
    Ok(with_tokens(builder, all))
}

/// Uses the tokens of earlier sign-ins, as other commands do.
fn with_tokens(builder: HostBuilder, servers: Vec<(String, Server)>) -> HostBuilder {
    let tokens: HashMap<String, _> = servers
        .into_iter()
        .filter_map(|(id, server)| Some((id, server.tokens(&Options::default())?)))
        .collect();
    builder.reach_with(move |id: &ServerId, target| match tokens.get(id.as_str()) {
        Some(tokens) => target.authorize(tokens.clone()),
        None => target,
    })
}

/// A short name: the host of a URL, or the name in the file.
fn id_of(server: &Server) -> String {
    if server.entry.is_some() {
        return server.name.clone();
    }
    let name = server
        .name
        .split_once("://")
        .map_or(server.name.as_str(), |(_, rest)| rest);
    name.split(['/', '?']).next().unwrap_or(name).to_owned()
}

fn unique(id: &str, taken: &[(String, Server)]) -> String {
    let is_taken = |id: &str| taken.iter().any(|(other, _)| other == id);
    let mut name = id.to_owned();
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{id}-{number}");
        number += 1;
    }
    name
}

/// The folder for grants and history, created if it does not exist.
pub(super) fn data_folder() -> Outcome<PathBuf> {
    let from = |variable: &str| {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let base = if cfg!(windows) {
        from("APPDATA")
    } else if cfg!(target_os = "macos") {
        from("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        from("XDG_DATA_HOME").or_else(|| from("HOME").map(|home| home.join(".local/share")))
    };
    let base = base.ok_or_else(|| {
        Failed::usage("cannot find a folder for the chat's data").hint("set HOME")
    })?;
    let folder = base.join("turnbuckle");
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failed::usage(format!(
            "cannot make folder `{}`: {error}",
            folder.display()
        ))
    })?;
    Ok(folder)
}
