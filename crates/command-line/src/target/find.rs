//! Finds the server that a word, a command or a config entry refers to.

use std::path::{Path, PathBuf};

use turnbuckle::transport::http::client::{Address, AddressError};
use turnbuckle_host::config::{
    self, ConfigFiles, Entry, EntryError, FoundEntry, Launch, LookupError, Place, PlaceOwner,
    Places, Variables,
};

use super::{
    Masked, Server, program_name,
    server::{Given, without_query},
    variables::{Process, variable},
};
use crate::{
    control::tell,
    failure::{Failed, Outcome},
    input::ask_missing,
    shell,
    trust::{self, Consent},
};

/// How server names are looked up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup<'a> {
    /// If given, only this file is used.
    pub config: Option<&'a PathBuf>,
    /// What to do with a project's config file that the user has not trusted yet.
    pub consent: Consent,
}

/// Takes the server from the words of a command line: the first word, unless a command was given.
pub fn split<'w>(
    words: &'w [String],
    command: &[String],
    lookup: Lookup<'_>,
) -> Outcome<(Server, &'w [String])> {
    if let Some((program, arguments)) = command.split_first() {
        if program.trim().is_empty() {
            return Err(Failed::usage("the command after `--` is empty")
                .hint("write the name of a program and its arguments"));
        }
        let launch = Launch::Command {
            program: program.clone(),
            arguments: arguments.to_vec(),
            environment: Vec::new(),
            folder: None,
        };
        let server = Server {
            name: program_name::of(program, arguments),
            shown: launch.clone(),
            launch,
            given: Given::Command(quoted(command)),
            entry: None,
        };
        return Ok((server, words));
    }
    let Some((first, rest)) = words.split_first() else {
        return Err(Failed::usage("no server was named").hint(
            "name one by its URL, by its name in a config file (see `turnbuckle servers`), or by `-- command`",
        ));
    };
    Ok((find(first, lookup)?, rest))
}

/// Finds a server by URL, name, or `file:name`.
///
/// If several entries have the same name, the nearest that can be started or reached is used. An entry of a project is
/// only used if the user trusts the project's file.
///
/// # Errors
/// If there is no such server, its entry cannot be used, or the user does not trust the file.
pub fn find(word: &str, lookup: Lookup<'_>) -> Outcome<Server> {
    if word.contains("://") {
        check_address(word)?;
        let name = without_query(word);
        let launch = Launch::Remote(config::Remote {
            url: word.to_owned(),
            headers: Vec::new(),
            wire: config::Wire::Any,
        });
        return Ok(Server {
            shown: launch.clone(),
            launch,
            given: Given::Word(shell::quote(&name)),
            name,
            entry: None,
        });
    }
    let (config_files, others) = config_files(lookup.config)?;
    let is_told = lookup.consent != Consent::Never;
    let said = others.iter().filter(|_| is_told);
    said.for_each(|place| tell(&format!("note: {}", somebody_elses(&place.path))));
    let found = config_files
        .find(word)
        .map_err(|error| unknown(word, error))?;
    let (all, index) = choose(found, word, lookup.config);
    let (place, entry) = &all[index];
    let checked = configured(entry, word, lookup.config);
    if let Err(error) = &checked
        && !matches!(error, EntryError::InputMissing { .. })
    {
        return Err(unfit(entry, error));
    }
    if is_told {
        for (_, broken) in &all[..index] {
            tell(&format!(
                "note: server `{}` of `{}` cannot be used; the one of `{}` is used",
                broken.name,
                broken.file.display(),
                entry.file.display()
            ));
        }
        if let Some((_, other)) = all.get(index + 1) {
            tell(&format!(
                "note: using server `{}` of `{}`; it hides the one of `{}`",
                entry.name,
                entry.file.display(),
                other.file.display()
            ));
        }
    }
    if place.owner == PlaceOwner::Project {
        trust::check(&place.path, lookup.consent)?;
    }
    if is_told {
        ask_missing(entry, &Process)?;
    }
    configured(entry, word, lookup.config).map_err(|error| unfit(entry, &error))
}

/// All entries that were found, nearest first, and the index of the one to use.
fn choose(found: FoundEntry, word: &str, config: Option<&PathBuf>) -> (Vec<(Place, Entry)>, usize) {
    let mut all = vec![(found.place, found.entry)];
    all.extend(found.shadowed);
    let usable = |(_, entry): &(Place, Entry)| {
        configured(entry, word, config).is_ok_and(|server| server.can_be_found())
    };
    // If none can be used, the nearest is chosen, so that its problem is reported.
    let index = all.iter().position(usable).unwrap_or(0);
    (all, index)
}

/// The entry that commands use for a name, if several entries have this name.
pub fn taken_of_several(
    config_files: &ConfigFiles,
    name: &str,
    config: Option<&PathBuf>,
) -> Option<Entry> {
    let (mut all, index) = choose(config_files.find(name).ok()?, name, config);
    (all.len() > 1).then(|| all.swap_remove(index).1)
}

/// The config files in which names are looked up, and the project files that are not used because
/// they belong to another user.
pub fn config_files(config: Option<&PathBuf>) -> Outcome<(ConfigFiles, Vec<Place>)> {
    if let Some(path) = config {
        let only = ConfigFiles::only(path).map_err(Failed::usage)?;
        return Ok((only, Vec::new()));
    }
    let mut config_files = ConfigFiles::load(&Places::of_process());
    let is_strange =
        |place: &Place| place.owner == PlaceOwner::Project && !trust::is_own(&place.path);
    let strange = config_files
        .files
        .extract_if(.., |(place, _)| is_strange(place))
        .map(|(place, _)| place)
        .collect();
    Ok((config_files, strange))
}

/// The message about a file that is not used because it belongs to another user.
pub fn somebody_elses(path: &Path) -> String {
    format!(
        "`{}` belongs to another user and is not used; `--config FILE` uses it anyway",
        path.display()
    )
}

/// The server of an entry of a config file. `word` is how the command line named it.
pub fn configured(
    entry: &Entry,
    word: &str,
    config: Option<&PathBuf>,
) -> Result<Server, EntryError> {
    configured_with(entry, word, config, (&Process, &Masked))
}

/// The same with other variables: those for launching it, and those for showing it.
///
/// # Errors
/// [`EntryError`]: what is wrong with the entry.
pub fn configured_with(
    entry: &Entry,
    word: &str,
    config: Option<&PathBuf>,
    (variables, shown): (&dyn Variables, &dyn Variables),
) -> Result<Server, EntryError> {
    let file = config.map(|file| ["--config".to_owned(), file.to_string_lossy().into_owned()]);
    let mut given: Vec<String> = file.into_iter().flatten().collect();
    given.push(word.to_owned());
    Ok(Server {
        name: entry.name.clone(),
        launch: entry.launch(variables)?,
        shown: entry.launch(shown)?,
        given: Given::Word(quoted(&given)),
        entry: Some(entry.clone()),
    })
}

fn quoted(words: &[String]) -> String {
    shell::line(words.iter().map(String::as_str))
}

/// Checks the URL of a server before connecting. A password in it is not repeated in the error.
fn check_address(word: &str) -> Outcome {
    let (scheme, rest) = word.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(Failed::usage("the URL of the server contains credentials")
            .hint("give them as a header: `--header 'Authorization: …'`"));
    }
    let is_web = ["http", "https"].contains(&&*scheme.to_ascii_lowercase());
    let why = match Address::parse(word) {
        Ok(_) if is_web => return Ok(()),
        Err(error @ AddressError::Port { .. }) => format!(": {error}"),
        _ => String::new(),
    };
    let shown = word.split(['?', '#']).next().unwrap_or_default();
    Err(Failed::usage(format!("`{shown}` is not a server URL{why}"))
        .hint("write http://HOST:PORT/PATH or https://HOST/PATH"))
}

/// The problem with an entry, and a hint.
fn unfit(entry: &Entry, error: &EntryError) -> Failed {
    let (name, file) = (&entry.name, entry.file.display());
    let failed = Failed::usage(format!("server `{name}` of `{file}`: {error}"));
    match error {
        EntryError::InputMissing { id, .. } => failed.hint(format!("set {}", variable(id))),
        EntryError::Unset { name, .. } => failed.hint(format!("set {name}")),
        _ => failed,
    }
}

/// Whether a word is a URL without its scheme: `localhost:7250/mcp`, `mcp.example.com/mcp`.
fn is_bare_address(word: &str) -> bool {
    let authority = word.split('/').next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let has_port = !port.is_empty() && port.chars().all(|digit| digit.is_ascii_digit());
    let is_host = !host.is_empty()
        && host
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-'));
    let has_path = word.contains('/') && host.contains('.') && !host.starts_with('.');
    is_host && (has_port || has_path) && Address::parse(&format!("http://{word}")).is_ok()
}

fn unknown(word: &str, error: LookupError) -> Failed {
    let hint = match &error {
        LookupError::Unknown { .. } if is_bare_address(word) => {
            let word = word.split(['?', '#']).next().unwrap_or_default();
            let host = word.split([':', '/']).next().unwrap_or_default();
            let scheme = if turnbuckle_base::loopback::is_loopback(host) {
                "http"
            } else {
                "https"
            };
            format!("did you mean `{scheme}://{word}`?")
        }
        LookupError::Unknown {
            nearest: Some(nearest),
            ..
        } => format!("did you mean `{nearest}`?"),
        LookupError::Unknown { known, .. } if known.is_empty() => {
            "no config file was found; a server can be named by its URL or by `-- command`"
                .to_owned()
        }
        LookupError::Unknown { known, .. } => format!("configured servers: {}", known.join(", ")),
        _ => return Failed::usage(error),
    };
    Failed::usage(error).hint(hint)
}
