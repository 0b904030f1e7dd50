//! The server that was meant, and the way there.

use std::path::Path;

use turnbuckle::{
    Command, Target,
    auth::client::OAuth,
    client::{Connect, HttpTarget},
};
use turnbuckle_host::config::{Entry, Launch, Remote};

use super::{Options, program_name};
use crate::{
    failure::{Code, Failed, LOGIN, Outcome},
    http_head::HeadPrinter,
    secret::Secrets,
    sign_in,
    wire::Wire,
};

/// The server that was meant, before it is connected to.
#[derive(Debug)]
pub struct Server {
    /// What to call it.
    pub name: String,
    /// How it is started or reached.
    pub launch: Launch,
    /// The launch as it may be shown: without what was filled in for inputs.
    pub shown: Launch,
    pub(super) given: Given,
    /// The entry of the config file that it is from.
    pub entry: Option<Entry>,
}

/// How a command line names a server, as a shell takes it.
#[derive(Debug)]
pub(super) enum Given {
    /// One word, and the option that it is looked up with.
    Word(String),
    /// The command after `--`.
    Command(String),
}

/// A URL as it is shown: its query may be a secret.
pub fn without_query(url: &str) -> String {
    match url.split_once(['?', '#']) {
        Some((place, _)) => format!("{place}?…"),
        None => url.to_owned(),
    }
}

/// A program that is to be started, as a config file or the command line has it.
pub fn command(
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

/// Whether a program can be found: by its path, which is relative to `folder`, or by its name.
pub fn is_program(program: &str, folder: Option<&Path>) -> bool {
    if program.contains('/') {
        return folder.unwrap_or(Path::new("")).join(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let endings: &[&str] = if cfg!(windows) {
        &["", ".exe", ".cmd", ".bat"]
    } else {
        &[""]
    };
    std::env::split_paths(&path).any(|folder| {
        let names = endings.iter().map(|ending| format!("{program}{ending}"));
        names.into_iter().any(|name| folder.join(name).is_file())
    })
}

impl Server {
    /// A server by how it is started or reached.
    pub fn at(launch: Launch) -> Self {
        let name = match &launch {
            Launch::Command {
                program, arguments, ..
            } => program_name::of(program, arguments),
            Launch::Remote(remote) => without_query(&remote.url),
        };
        Self {
            given: Given::Word(crate::shell::quote(&name)),
            shown: launch.clone(),
            launch,
            name,
            entry: None,
        }
    }

    /// Whether the program that it is can be found; a server at a URL always can.
    pub fn can_be_found(&self) -> bool {
        match &self.launch {
            Launch::Command {
                program,
                environment,
                folder,
                ..
            } => {
                // Where it is looked for then depends on the operating system.
                let has_own_path = environment.iter().any(|(name, _)| name == "PATH");
                has_own_path || is_program(program, folder.as_deref())
            }
            Launch::Remote(_) => true,
        }
    }

    /// A command line about this server that can be run unchanged, except for the query of a URL.
    pub fn line(&self, command: &str, words: &str) -> String {
        let blank = if words.is_empty() { "" } else { " " };
        match &self.given {
            Given::Command(given) => format!("turnbuckle {command}{blank}{words} -- {given}"),
            Given::Word(given) => format!("turnbuckle {command} {given}{blank}{words}"),
        }
    }

    /// The same connection, in whose errors the server has this name. One that only a URL is known of
    /// has the name that it gives itself.
    pub fn named(&self, connect: Connect) -> Connect {
        match (&self.launch, &self.entry) {
            (Launch::Remote(_), None) => connect,
            _ => connect.named(self.name.as_str()),
        }
    }

    /// The way there, for a client.
    pub fn target(&self, options: &Options) -> Outcome<Target> {
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
    pub fn shown_target(&self, options: &Options, wire: &Wire) -> Outcome<Target> {
        match &self.launch {
            Launch::Command { .. } => self.target(options),
            Launch::Remote(remote) => {
                let heads = HeadPrinter::new(wire.clone(), self.tokens(options));
                Ok(reach(remote, options)?.authorize(heads).into())
            }
        }
    }

    /// The tokens of an earlier sign-in, unless others were given.
    pub fn tokens(&self, options: &Options) -> Option<OAuth> {
        let Launch::Remote(remote) = &self.launch else {
            return None;
        };
        let mut names = remote.headers.iter().map(|(name, _)| name);
        let has_own = names.any(|name| is_authorization(name));
        (!has_own && !options.has_authorization())
            .then(sign_in::silent)
            .flatten()
    }

    /// The way to a server at a URL, for callers that add to it; `None` for a program.
    pub fn http_target(&self, options: &Options) -> Outcome<Option<HttpTarget>> {
        match &self.launch {
            Launch::Command { .. } => Ok(None),
            Launch::Remote(remote) => reach(remote, options).map(Some),
        }
    }

    /// The secrets that it is started or reached with.
    pub fn secrets(&self, options: &Options) -> Secrets {
        let mut secrets = Secrets::default();
        let given = match &self.launch {
            Launch::Command { environment, .. } => environment,
            Launch::Remote(remote) => &remote.headers,
        };
        for (_, value) in given {
            secrets.add(value);
        }
        options.secrets().for_each(|value| secrets.add(value));
        secrets
    }

    /// Shows and records messages as the options say.
    pub fn wire(&self, options: &Options) -> Outcome<Wire> {
        Wire::open(
            options.wire,
            options.record.as_deref(),
            self.secrets(options),
        )
    }

    /// Adds a hint to an error: the command for this server that helps, `login` or `doctor`.
    pub fn explain(&self, failed: Failed) -> Failed {
        match (failed.hint_given(), failed.code) {
            (Some(LOGIN), _) => failed.hint(format!("run `{}` to sign in", self.line("login", ""))),
            (None, Code::Connect) => self.see_doctor(failed),
            _ => failed,
        }
    }

    /// The same if there was no connection at all.
    pub fn explain_no_connection(&self, failed: Failed) -> Failed {
        // How TLS fails on an answer in plain HTTP.
        if let Launch::Remote(remote) = &self.launch
            && let Some(rest) = remote.url.strip_prefix("https://")
            && failed.to_json().to_string().contains("InvalidContentType")
        {
            let said = format!("{} does not speak TLS", without_query(&remote.url));
            let plain = without_query(&format!("http://{rest}"));
            return Failed::new(Code::Connect, said).hint(format!("it may be `{plain}`"));
        }
        match failed.hint_given() {
            None => self.see_doctor(failed),
            Some(_) => self.explain(failed),
        }
    }

    fn see_doctor(&self, failed: Failed) -> Failed {
        let line = self.line("doctor", "");
        failed.hint(format!("run `{line}` to find the cause"))
    }
}

pub(super) fn is_authorization(name: &str) -> bool {
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
