//! How a server is started or reached, for grants and for display.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use sha2::{Digest, Sha256};
use turnbuckle_client::Target;

use crate::{config::Launch, shown_uri::without_secrets};

/// How a server is started or reached.
#[derive(Clone)]
pub(crate) enum Reach {
    Launch(Launch),
    /// A connection that the application opens itself.
    Custom(Custom),
    /// An entry that cannot be used, with the reason.
    Unusable(String),
}

/// A connection that the application opens itself.
#[derive(Clone)]
pub(crate) struct Custom {
    pub(crate) open: Arc<dyn Fn() -> Target + Send + Sync>,
    /// Whether all messages share one pipe.
    pub(crate) is_pipe: bool,
    /// The text that identifies the server where its lists are kept.
    pub(crate) kept_as: Option<String>,
}

impl PartialEq for Reach {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launch(one), Self::Launch(other)) => one == other,
            (Self::Custom(one), Self::Custom(other)) => Arc::ptr_eq(&one.open, &other.open),
            (Self::Unusable(one), Self::Unusable(other)) => one == other,
            _ => false,
        }
    }
}

impl fmt::Debug for Reach {
    /// Leaves out arguments and variables, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(Launch::Command { program, .. }) => {
                f.debug_tuple("Command").field(program).finish()
            }
            Self::Launch(Launch::Remote(remote)) => {
                let place = without_secrets(&remote.url);
                f.debug_tuple("Remote").field(&place).finish()
            }
            Self::Custom(_) => f.write_str("Custom"),
            Self::Unusable(reason) => f.debug_tuple("Unusable").field(reason).finish(),
        }
    }
}

impl Reach {
    /// Identifies this server among others of the same name: a digest of the program with its
    /// arguments, folder and variable names, or of the URL. Values of variables are not included,
    /// because they are often secrets, except for variables that determine which code is run.
    /// `None` if the application opens the connection itself and gave no text with
    /// [`ServerSpec::kept_as`](super::ServerSpec::kept_as), or if the entry cannot be used.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text.as_bytes());
        };
        match self {
            Self::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                add("command");
                add(program);
                for argument in arguments {
                    add(argument);
                }
                if let Some(folder) = folder {
                    add(&folder.to_string_lossy());
                }
                let mut variables: Vec<_> = environment.iter().collect();
                variables.sort();
                for (name, value) in variables {
                    add("variable");
                    add(name);
                    if says_which_code(name) {
                        add(value);
                    }
                }
            }
            Self::Launch(Launch::Remote(remote)) => {
                add("url");
                add(remote.url.split(['?', '#']).next().unwrap_or_default());
            }
            Self::Custom(custom) => {
                add("custom");
                add(custom.kept_as.as_ref()?);
            }
            Self::Unusable(_) => return None,
        }
        let mut text = String::new();
        for byte in &digest.finalize()[..16] {
            let _ = write!(text, "{byte:02x}");
        }
        Some(text)
    }

    /// How the server is started, in a form that may be shown to a user: without values of headers,
    /// without the user and query of a URL, without arguments that their options name as secrets,
    /// and without values of variables except those that determine which code is run.
    pub(crate) fn to_redacted_string(&self) -> String {
        match self {
            Self::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                let folder = folder.as_ref().map(|folder| {
                    let folder = quoted(&folder.to_string_lossy());
                    format!("cd {folder} &&")
                });
                let variables = environment.iter().map(|(name, value)| {
                    let value = if says_which_code(name) {
                        quoted(value)
                    } else {
                        "…".to_owned()
                    };
                    format!("{name}={value}")
                });
                folder
                    .into_iter()
                    .chain(variables)
                    .chain([quoted(program)])
                    .chain(shown_arguments(arguments))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Self::Launch(Launch::Remote(remote)) => shown_url(&remote.url),
            Self::Custom(_) => "a server of the application".to_owned(),
            Self::Unusable(reason) => format!("unusable: {reason}"),
        }
    }
}

/// A URL without its user, query and fragment.
fn shown_url(url: &str) -> String {
    let mut place = without_secrets(url);
    if url.contains(['?', '#']) {
        place.push_str("?…");
    }
    place
}

/// The arguments of a program, quoted for a shell. Values of options that name a secret are left
/// out, and so are headers, and passwords and queries in URLs.
fn shown_arguments(arguments: &[String]) -> Vec<String> {
    let mut before = "";
    let shown = arguments.iter().map(|word| {
        let option = std::mem::replace(&mut before, word);
        let is_value = option.starts_with('-') && (names_secret(option) || is_header(option));
        // An expression that is not expanded says where the secret comes from.
        let is_reference = word.starts_with("${") && word.ends_with('}');
        if is_value && !is_reference && !word.starts_with("--") {
            return "…".to_owned();
        }
        match word.split_once('=') {
            Some((name, value)) if is_secret_setting(name) && !value.starts_with("${") => {
                format!("{}=…", quoted(name))
            }
            _ => shown_argument(word),
        }
    });
    shown.collect()
}

fn shown_argument(word: &str) -> String {
    if !word.contains("://") || !word.contains(['?', '@']) {
        return quoted(word);
    }
    let (place, query) = match word.split_once('?') {
        Some((place, _)) => (place, "?…"),
        None => (word, ""),
    };
    let place = if place.contains('@') {
        without_secrets(place)
    } else {
        place.to_owned()
    };
    format!("{}{query}", quoted(&place))
}

/// Whether the text before `=` is an option or a variable, and not a URL, whose name says that its
/// value is a secret.
fn is_secret_setting(name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    names_secret(name) && name.chars().all(is_name)
}

/// Whether the name of an option or a variable says that its value is a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["token", "key", "secret", "password", "passwd"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether the value of an option is a header, which is often a secret.
fn is_header(option: &str) -> bool {
    ["-H", "--header"].contains(&option)
}

/// Variables whose values determine which code a program runs, or where a package comes from.
const CODE_VARIABLES: [&str; 22] = [
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_REGISTRY",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "JAVA_TOOL_OPTIONS",
    "CLASSPATH",
    "BASH_ENV",
    "ENV",
];

/// Whether the value of a variable determines which code is run. The dynamic loader of the system
/// reads those that begin with `LD_` and `DYLD_`.
fn says_which_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_") || CODE_VARIABLES.contains(&&*name)
}

/// Quotes a word of a command line for a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Remote, Wire};

    fn remote(url: &str, key: &str) -> Reach {
        Reach::Launch(Launch::Remote(Remote {
            url: url.to_owned(),
            headers: vec![("x-key".to_owned(), key.to_owned())],
            wire: Wire::Any,
        }))
    }

    fn command(program: &str, arguments: &[&str]) -> Reach {
        Reach::Launch(Launch::Command {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
            environment: Vec::new(),
            folder: None,
        })
    }

    #[test]
    fn a_fingerprint_is_of_the_place_and_not_of_the_secrets() {
        let first = remote("https://a/mcp?key=1", "one");
        assert_eq!(
            first.fingerprint(),
            remote("https://a/mcp?key=2", "two").fingerprint()
        );
        assert_ne!(
            first.fingerprint(),
            remote("https://b/mcp", "one").fingerprint()
        );
        assert_ne!(
            command("a", &["b c"]).fingerprint(),
            command("a", &["b", "c"]).fingerprint()
        );
    }

    #[test]
    fn variables_count_by_their_names_and_those_that_name_code_by_their_values() {
        let spec = |variables: &[(&str, &str)]| {
            let pairs = variables.iter();
            Reach::Launch(Launch::Command {
                program: "npx".to_owned(),
                arguments: vec!["server".to_owned()],
                environment: pairs
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                folder: Some("/a b".into()),
            })
        };
        let first = spec(&[("API_KEY", "secret-1")]);
        assert_eq!(
            first.to_redacted_string(),
            "cd '/a b' && API_KEY=… npx server"
        );
        assert_eq!(
            first.fingerprint(),
            spec(&[("API_KEY", "secret-2")]).fingerprint()
        );
        assert_ne!(first.fingerprint(), spec(&[]).fingerprint());
        let (one, other) = (
            spec(&[("NODE_OPTIONS", "--require=/tmp/one.js")]),
            spec(&[("NODE_OPTIONS", "--require=/tmp/other.js")]),
        );
        assert_ne!(one.fingerprint(), other.fingerprint());
        let shown = one.to_redacted_string();
        assert!(
            shown.contains("NODE_OPTIONS=--require=/tmp/one.js"),
            "{shown}"
        );
    }

    #[test]
    fn nothing_secret_is_shown() {
        let spec = remote("https://hidden:hidden@a/mcp?key=hidden", "hidden");
        assert_eq!(spec.to_redacted_string(), "https://a/mcp?…");
        assert_eq!(
            remote("https://a/mcp", "hidden").to_redacted_string(),
            "https://a/mcp"
        );
        assert!(!format!("{spec:?}").contains("hidden"));
        assert_eq!(command("a", &["b c"]).to_redacted_string(), "a 'b c'");
    }

    #[test]
    fn secrets_among_arguments_are_not_shown() {
        for (arguments, shown) in [
            (&["--token", "hidden", "next"][..], "a --token … next"),
            (&["--api-key", "hidden"], "a --api-key …"),
            (&["--password=hidden", "b"], "a --password=… b"),
            (&["-e", "API_KEY=hidden"], "a -e API_KEY=…"),
            (&["--header", "Authorization: hidden"], "a --header …"),
            (
                &["postgres://ada:hidden@db/x?sslkey=hidden"],
                "a postgres://db/x?…",
            ),
            (&["--use-token", "--verbose"], "a --use-token --verbose"),
            (&["--token", "${T}"], "a --token '${T}'"),
            (&["--token=${T}"], "a '--token=${T}'"),
            (&["key", "b"], "a key b"),
            (
                &["--from", "git+https://h/a@v1#subdirectory=b"],
                "a --from git+https://h/a@v1",
            ),
        ] {
            assert_eq!(command("a", arguments).to_redacted_string(), shown);
        }
    }

    #[test]
    fn variables_are_shown_as_they_are_written() {
        let launch = |reach| match reach {
            Reach::Launch(launch) => launch,
            _ => unreachable!("the commands of these tests are launches"),
        };
        let spec = crate::ServerSpec::from(launch(command("a", &["hidden"])));
        let spec = spec.shown_as(launch(command("a", &["${CRED}"])));
        assert_eq!(spec.to_redacted_string(), "a '${CRED}'");
    }
}
