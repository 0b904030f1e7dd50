//! Finding the server that a word, a command or a config entry means.

use std::path::PathBuf;

use turnbuckle::transport::http::client::{Address, AddressError};
use turnbuckle_host::config::{self, Catalogue, Entry, EntryError, Launch, LookupError, Places};

use super::{
    Masked, Server,
    server::{Given, without_query},
    variables::{Process, variable},
};
use crate::{
    failure::{Failed, Outcome},
    shell,
};

/// Takes the server off the words of a command line: the first word, unless a command was given.
pub fn split<'w>(
    words: &'w [String],
    command: &[String],
    config: Option<&PathBuf>,
) -> Outcome<(Server, &'w [String])> {
    if let Some((program, arguments)) = command.split_first() {
        let launch = Launch::Command {
            program: program.clone(),
            arguments: arguments.to_vec(),
            environment: Vec::new(),
            folder: None,
        };
        let name = PathBuf::from(program).file_name().map_or_else(
            || program.clone(),
            |name| name.to_string_lossy().into_owned(),
        );
        let server = Server {
            name,
            shown: launch.clone(),
            launch,
            given: Given::Command(quoted(command)),
        };
        return Ok((server, words));
    }
    let Some((first, rest)) = words.split_first() else {
        return Err(Failed::usage("no server was named").hint(
            "name one by its URL, by its name in a config file (see `turnbuckle servers`), or by `-- command`",
        ));
    };
    Ok((find(first, config)?, rest))
}

/// Finds a server by URL, name, or `file:name`.
pub fn find(word: &str, config: Option<&PathBuf>) -> Outcome<Server> {
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
        });
    }
    let found = catalogue(config)?.find(word).map_err(unknown)?;
    for other in &found.shadowed {
        tracing::debug!(%other, "a server of the same name is farther away");
    }
    configured(&found.entry, word, config).map_err(|error| unfit(&found.entry, &error))
}

/// The config files that names are looked up in.
pub fn catalogue(config: Option<&PathBuf>) -> Outcome<Catalogue> {
    match config {
        Some(path) => Catalogue::only(path).map_err(Failed::usage),
        None => Ok(Catalogue::load(&Places::of_process())),
    }
}

/// The server of an entry of a config file, which `word` means there.
pub fn configured(
    entry: &Entry,
    word: &str,
    config: Option<&PathBuf>,
) -> Result<Server, EntryError> {
    let file = config.map(|file| ["--config".to_owned(), file.to_string_lossy().into_owned()]);
    let mut given: Vec<String> = file.into_iter().flatten().collect();
    given.push(word.to_owned());
    Ok(Server {
        name: entry.name.clone(),
        launch: entry.launch(&Process)?,
        shown: entry.launch(&Masked)?,
        given: Given::Word(quoted(&given)),
    })
}

fn quoted(words: &[String]) -> String {
    shell::line(words.iter().map(String::as_str))
}

/// Checks the URL of a server before anything is connected to. A password in it is not repeated.
fn check_address(word: &str) -> Outcome {
    let (scheme, rest) = word.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(Failed::usage("the URL of the server has credentials in it")
            .hint("give them as a header: `--header 'Authorization: …'`"));
    }
    let is_web = ["http", "https"].contains(&&*scheme.to_ascii_lowercase());
    let why = match Address::parse(word) {
        Ok(_) if is_web => return Ok(()),
        Err(error @ AddressError::Port { .. }) => format!(": {error}"),
        _ => String::new(),
    };
    let shown = word.split(['?', '#']).next().unwrap_or_default();
    Err(
        Failed::usage(format!("`{shown}` is no URL of a server{why}"))
            .hint("write http://HOST:PORT/PATH or https://HOST/PATH"),
    )
}

/// What is wrong with an entry, and what to do about it.
fn unfit(entry: &Entry, error: &EntryError) -> Failed {
    let (name, file) = (&entry.name, entry.file.display());
    let failed = Failed::usage(format!("server `{name}` of `{file}`: {error}"));
    match error {
        EntryError::InputMissing { id, .. } => failed.hint(format!("set {}", variable(id))),
        EntryError::Unset { name, .. } => failed.hint(format!("set {name}")),
        _ => failed,
    }
}

fn unknown(error: LookupError) -> Failed {
    let hint = match &error {
        LookupError::Unknown {
            nearest: Some(nearest),
            ..
        } => format!("did you mean `{nearest}`?"),
        LookupError::Unknown { known, .. } if known.is_empty() => {
            "no config file was found; a server can be named by its URL or by `-- command`"
                .to_owned()
        }
        LookupError::Unknown { known, .. } => format!("there are: {}", known.join(", ")),
        _ => return Failed::usage(error),
    };
    Failed::usage(error).hint(hint)
}
