//! A server that a command is for, and how to connect to it.

use std::path::Path;

use turnbuckle::{
    Command, Target,
    auth::client::OAuth,
    client::{Connect, HttpTarget},
};
use turnbuckle_host::{
    config::{Entry, Launch, Remote},
    shared::own_secrets,
};

use super::{Options, program_name};
use crate::{
    failure::{Code, Failed, LOGIN, Outcome},
    http_head::HeadPrinter,
    secret::Secrets,
    sign_in,
    wire::Wire,
};

/// A server that a command is for, before it is connected to.
#[derive(Debug)]
pub struct Server {
    /// The name to show.
    pub name: String,
    /// How the server is started or reached.
    pub launch: Launch,
    /// The launch as it may be shown: without the values of inputs.
    pub shown: Launch,
    pub(super) given: Given,
    /// The entry of the config file that it came from.
    pub entry: Option<Entry>,
}

/// How a command line names a server, quoted for a shell.
#[derive(Debug)]
pub(super) enum Given {
    /// One word, with the option for the config file that it is looked up in.
    Word(String),
    /// The command after `--`.
    Command(String),
}

/// A URL without its query, which may be a secret.
pub fn without_query(url: &str) -> String {
    match url.split_once(['?', '#']) {
        Some((place, _)) => format!("{place}?…"),
        None => url.to_owned(),
    }
}

/// A program to start, as a config file or the command line describes it. It does not inherit the
/// secrets that only our own programs read.
pub fn command(
    program: &str,
    arguments: &[String],
    environment: &[(String, String)],
    folder: Option<&Path>,
) -> Command {
    let mut command = Command::new(program).args(arguments);
    for name in own_secrets() {
        command = command.env_remove(name);
    }
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
    /// Creates a server from how it is started or reached.
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

    /// Whether its program can be found; always true for a server at a URL.
    pub fn can_be_found(&self) -> bool {
        match &self.launch {
            Launch::Command {
                program,
                environment,
                folder,
                ..
            } => {
                // With its own PATH, the program is looked up in a way that depends on the operating system.
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

    /// Gives the connection this server's name for its errors. A server of which only the URL is known
    /// has the name that it reports itself.
    pub fn named(&self, connect: Connect) -> Connect {
        match (&self.launch, &self.entry) {
            (Launch::Remote(_), None) => connect,
            _ => connect.named(self.name.as_str()),
        }
    }

    /// The target for a client.
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

    /// The same, and shows the heads of HTTP messages.
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

    /// The target of a server at a URL, for callers that change it; `None` for a program.
    pub fn http_target(&self, options: &Options) -> Outcome<Option<HttpTarget>> {
        match &self.launch {
            Launch::Command { .. } => Ok(None),
            Launch::Remote(remote) => reach(remote, options).map(Some),
        }
    }

    /// The secrets with which it is started or reached.
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

    /// The same, for an error while connecting.
    pub fn explain_no_connection(&self, failed: Failed) -> Failed {
        // This is how TLS fails if the server answers in plain HTTP.
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
