//! The server a command is for: a URL, a name from a config file, or a command after `--`.

mod aim;
mod options;
mod surroundings;

use std::path::{Path, PathBuf};

use turnbuckle::{
    Command, Target,
    auth::client::OAuth,
    client::HttpTarget,
    transport::http::client::{Address, AddressError},
};
use turnbuckle_host::config::{Catalogue, Entry, EntryError, Launch, LookupError, Places, Remote};

pub(crate) use aim::Aim;
pub(crate) use options::{EraName, Options};
pub(crate) use surroundings::{Masked, Surroundings};

use crate::{
    exit::{Failed, Outcome},
    heads::Heads,
    sign_in,
    wire::Wire,
};

/// The server that was meant, before it is connected to.
pub(crate) struct Server {
    /// What to call it.
    pub(crate) name: String,
    pub(crate) launch: Launch,
    /// The launch as it may be shown: without what was filled in for inputs.
    pub(crate) shown: Launch,
    given: Given,
}

/// How a command line names a server, as a shell takes it.
enum Given {
    /// One word, and the option that it is looked up with.
    Word(String),
    /// The command after `--`.
    Command(String),
}

/// Takes the server off the words of a command line: the first word, unless a command was given.
pub(crate) fn split<'w>(
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

/// Words as a line for a shell.
pub(crate) fn quoted(words: &[String]) -> String {
    crate::inspect::line(words.iter().map(String::as_str))
}

/// Finds a server by URL, name, or `file:name`.
pub(crate) fn find(word: &str, config: Option<&PathBuf>) -> Outcome<Server> {
    if word.contains("://") {
        is_address(word)?;
        let name = without_query(word);
        let launch = Launch::Remote(Remote {
            url: word.to_owned(),
            headers: Vec::new(),
            wire: turnbuckle_host::config::Wire::Any,
        });
        return Ok(Server {
            shown: launch.clone(),
            launch,
            given: Given::Word(quoted(std::slice::from_ref(&name))),
            name,
        });
    }
    let found = catalogue(config)?.find(word).map_err(unknown)?;
    for other in &found.shadowed {
        tracing::debug!(%other, "a server of the same name is farther away");
    }
    configured(&found.entry, word, config).map_err(|error| unfit(&found.entry, &error))
}

/// A URL as it is shown: its query may be a secret.
pub(crate) fn without_query(url: &str) -> String {
    match url.split_once(['?', '#']) {
        Some((place, _)) => format!("{place}?…"),
        None => url.to_owned(),
    }
}

/// Whether a word is the address of a server. What is wrong with it is said before anything is
/// connected to; a password in it is not repeated.
fn is_address(word: &str) -> Outcome {
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

/// The files that names are looked up in.
pub(crate) fn catalogue(config: Option<&PathBuf>) -> Outcome<Catalogue> {
    match config {
        Some(path) => Catalogue::only(path).map_err(Failed::usage),
        None => Ok(Catalogue::load(&Places::of_process())),
    }
}

/// The server that a config file has, and that the word means there.
pub(crate) fn configured(
    entry: &Entry,
    word: &str,
    config: Option<&PathBuf>,
) -> Result<Server, EntryError> {
    let file = config.map(|file| ["--config".to_owned(), file.to_string_lossy().into_owned()]);
    let mut given: Vec<String> = file.into_iter().flatten().collect();
    given.push(word.to_owned());
    Ok(Server {
        name: entry.name.clone(),
        launch: entry.launch(&Surroundings)?,
        shown: entry.launch(&Masked)?,
        given: Given::Word(quoted(&given)),
    })
}

/// What is wrong with an entry, and what to do about it.
fn unfit(entry: &Entry, error: &EntryError) -> Failed {
    let (name, file) = (&entry.name, entry.file.display());
    let failed = Failed::usage(format!("server `{name}` of `{file}`: {error}"));
    match error {
        EntryError::InputMissing { id, .. } => {
            failed.hint(format!("set {}", surroundings::variable(id)))
        }
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

/// A program that is to be started, as a config file or the command line has it.
pub(crate) fn command(
    program: &str,
    arguments: &[String],
    environment: &[(String, String)],
    folder: Option<&Path>,
) -> Command {
    let mut command = Command::new(program).args(arguments);
    for (name, value) in environment {
        command = command.env(name, value);
    }
    match folder {
        Some(folder) => command.current_dir(folder),
        None => command,
    }
}

impl Server {
    /// A command line about this server that can be run as it stands, but for the query of a URL.
    pub(crate) fn line(&self, command: &str, words: &str) -> String {
        let blank = if words.is_empty() { "" } else { " " };
        match &self.given {
            Given::Command(given) => format!("turnbuckle {command}{blank}{words} -- {given}"),
            Given::Word(given) => format!("turnbuckle {command} {given}{blank}{words}"),
        }
    }

    /// The way there, for a client.
    pub(crate) fn target(&self, options: &Options) -> Outcome<Target> {
        match &self.launch {
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => Ok(command(program, arguments, environment, folder.as_deref()).into()),
            Launch::Remote(remote) => {
                let target = reach(remote, options)?;
                Ok(match self.tokens(options) {
                    Some(tokens) => target.authorize(tokens).into(),
                    None => target.into(),
                })
            }
        }
    }

    /// The same, with the heads of HTTP shown.
    pub(crate) fn seen_target(&self, options: &Options, wire: &Wire) -> Outcome<Target> {
        match &self.launch {
            Launch::Command { .. } => self.target(options),
            Launch::Remote(remote) => {
                let heads = Heads::new(wire.clone(), self.tokens(options));
                Ok(reach(remote, options)?.authorize(heads).into())
            }
        }
    }

    /// Tokens that somebody signed in for are used, unless others were given.
    pub(crate) fn tokens(&self, options: &Options) -> Option<OAuth> {
        let Launch::Remote(remote) = &self.launch else {
            return None;
        };
        let mut names = remote.headers.iter().map(|(name, _)| name);
        let has_own = names.any(|name| is_authorization(name));
        (!has_own && !options.has_authorization())
            .then(sign_in::silent)
            .flatten()
    }

    /// The same where it is a URL, for whoever has more to say about it.
    pub(crate) fn http_target(&self, options: &Options) -> Outcome<Option<HttpTarget>> {
        match &self.launch {
            Launch::Command { .. } => Ok(None),
            Launch::Remote(remote) => reach(remote, options).map(Some),
        }
    }
}

fn is_authorization(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("authorization")
}

fn reach(remote: &Remote, options: &Options) -> Outcome<HttpTarget> {
    let target = HttpTarget::new(&remote.url);
    let target = remote
        .headers
        .iter()
        .fold(target, |target, (name, value)| target.header(name, value));
    options.reach(target)
}
