//! `Launch`: the command to start or the URL to connect to.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{EntryError, Input, Variables, expand::Expansion};

/// The program to start or the URL to connect to. You get it from
/// [`Entry::launch`](super::Entry::launch) or make it in code, and convert it into a
/// [`ServerSpec`](crate::ServerSpec).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that speaks over its standard input and output.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Environment variables to set, in addition to those that it inherits.
        environment: Vec<(String, String)>,
        /// Its working folder; `None` for that of the host.
        folder: Option<PathBuf>,
    },
    /// A server at a URL.
    Remote(Remote),
}

/// A server at a URL, over Streamable HTTP or HTTP+SSE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its URL.
    pub url: String,
    /// Headers that are sent with each request, such as `Authorization`, with their variables expanded.
    pub headers: Vec<(String, String)>,
    /// The transport that the file names.
    pub wire: Wire,
}

/// The transport of a server at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// The file does not name a transport, so the client detects it.
    Any,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE, the transport of revision 2024-11-05.
    HttpSse,
}

/// The kinds of servers that files name in `type`.
enum LaunchKind {
    Command,
    Remote(Wire),
}

/// The keys under which hosts keep a URL.
const URLS: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];

pub(super) fn read(
    settings: &Map<String, Value>,
    inputs: &[Input],
    variables: &dyn Variables,
) -> Result<Launch, EntryError> {
    let reader = Reader {
        settings,
        expansion: Expansion { inputs, variables },
    };
    let has_command = ["command", "cmd"]
        .iter()
        .any(|key| settings.contains_key(*key));
    let url = URLS.into_iter().find(|key| settings.contains_key(*key));
    match (reader.kind()?, has_command, url) {
        (Some(LaunchKind::Command), true, _) | (None, true, None) => reader.command(),
        (Some(LaunchKind::Remote(wire)), _, Some(key)) => reader.remote(key, wire),
        // In the files of Gemini CLI, `httpUrl` means Streamable HTTP, while `url` means HTTP+SSE
        // or either transport.
        (None, false, Some(key @ "httpUrl")) => reader.remote(key, Wire::StreamableHttp),
        (None, false, Some(key)) => reader.remote(key, Wire::Any),
        (None, true, Some(_)) => Err(EntryError::Both),
        _ => Err(EntryError::NoCommandOrUrl),
    }
}

struct Reader<'a> {
    settings: &'a Map<String, Value>,
    expansion: Expansion<'a>,
}

impl Reader<'_> {
    fn kind(&self) -> Result<Option<LaunchKind>, EntryError> {
        let said = ["type", "transport", "transportType"]
            .iter()
            .find_map(|key| self.settings.get(*key)?.as_str());
        let Some(said) = said else { return Ok(None) };
        let plain = said.to_ascii_lowercase().replace(['-', '_'], "");
        Ok(Some(match plain.as_str() {
            "stdio" | "local" => LaunchKind::Command,
            "http" | "streamablehttp" => LaunchKind::Remote(Wire::StreamableHttp),
            "sse" => LaunchKind::Remote(Wire::HttpSse),
            "remote" => LaunchKind::Remote(Wire::Any),
            _ => {
                return Err(EntryError::UnknownType {
                    found: said.to_owned(),
                });
            }
        }))
    }

    fn command(&self) -> Result<Launch, EntryError> {
        let (program, mut arguments) = self.program()?;
        if program.trim().is_empty() {
            return Err(wrong(self.command_key(), "the name of a program"));
        }
        arguments.extend(self.texts("args")?);
        let mut environment = Vec::new();
        for key in ["env", "environment", "envs"] {
            environment.extend(self.pairs(key)?);
        }
        let folder = ["cwd", "workingDirectory"]
            .iter()
            .find(|key| self.settings.contains_key(**key))
            .map(|key| self.text(key))
            .transpose()?;
        Ok(Launch::Command {
            program,
            arguments,
            environment,
            folder: folder.map(PathBuf::from),
        })
    }

    fn command_key(&self) -> &'static str {
        if self.settings.contains_key("command") {
            "command"
        } else {
            "cmd"
        }
    }

    /// The command: a program, a whole command line, a list, or an object with a path in the format
    /// of Zed.
    fn program(&self) -> Result<(String, Vec<String>), EntryError> {
        let key = self.command_key();
        match self.settings.get(key) {
            Some(Value::Array(_)) => {
                let mut words = self.texts(key)?.into_iter();
                let program = words
                    .next()
                    .ok_or_else(|| wrong(key, "a list with a program"))?;
                Ok((program, words.collect()))
            }
            Some(Value::Object(inner)) => {
                let inner = Reader {
                    settings: inner,
                    expansion: Expansion { ..self.expansion },
                };
                Ok((inner.text("path")?, inner.texts("args")?))
            }
            Some(Value::String(written))
                if !self.settings.contains_key("args")
                    && written.contains(char::is_whitespace)
                    && words(written)?.len() > 1 =>
            {
                // Split into words before expanding, so that a value with blanks in it remains one
                // argument.
                let words = words(written)?.into_iter();
                let words = words.map(|word| self.expansion.expand(key, &word));
                let mut words = words.collect::<Result<Vec<_>, _>>()?.into_iter();
                let program = words
                    .next()
                    .ok_or_else(|| wrong(key, "the name of a program"))?;
                Ok((program, words.collect()))
            }
            _ => {
                let line = self.text(key)?;
                // A path may contain blanks. If the entry has `args`, the command is the program alone.
                if self.settings.contains_key("args") || !line.contains(char::is_whitespace) {
                    return Ok((line, Vec::new()));
                }
                // The value of a variable may be a whole command line.
                let open_quote = |_| EntryError::OpenQuote {
                    line: self.written(key),
                };
                let mut words = words(&line).map_err(open_quote)?.into_iter();
                let program = words
                    .next()
                    .ok_or_else(|| wrong(key, "the name of a program"))?;
                Ok((program, words.collect()))
            }
        }
    }

    fn remote(&self, key: &str, wire: Wire) -> Result<Launch, EntryError> {
        let url = self.text(key)?;
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let url = self.written(key);
            return Err(EntryError::NotAUrl { url });
        }
        if has_user(&url) {
            return Err(EntryError::UserInUrl {
                key: key.to_owned(),
            });
        }
        let mut headers = self.pairs("headers")?;
        headers.extend(self.pairs("http_headers")?);
        // Codex names the environment variables that hold the values of headers.
        for (name, variable) in self.pairs("env_http_headers")? {
            headers.push((
                name,
                self.expansion
                    .expand("env_http_headers", &format!("${{{variable}}}"))?,
            ));
        }
        if self.settings.contains_key("bearer_token_env_var") {
            let variable = self.text("bearer_token_env_var")?;
            let token = self
                .expansion
                .expand("bearer_token_env_var", &format!("${{{variable}}}"))?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        Ok(Launch::Remote(Remote { url, headers, wire }))
    }

    fn text(&self, key: &str) -> Result<String, EntryError> {
        match self.settings.get(key) {
            Some(Value::String(text)) => self.expansion.expand(key, text),
            _ => Err(wrong(key, "a string")),
        }
    }

    /// The text of a setting for an error, which does not have the values of variables: they may be secrets.
    fn written(&self, key: &str) -> String {
        let written = self.settings.get(key).and_then(Value::as_str);
        written.unwrap_or_default().to_owned()
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, EntryError> {
        match self.settings.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| self.plain(key, value, "a list of strings"))
                .collect(),
            Some(_) => Err(wrong(key, "a list of strings")),
        }
    }

    fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, EntryError> {
        match self.settings.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(pairs)) => pairs
                .iter()
                .map(|(name, value)| {
                    let value = self.plain(&format!("{key}.{name}"), value, "a string")?;
                    Ok((name.clone(), value))
                })
                .collect(),
            Some(_) => Err(wrong(key, "an object of texts")),
        }
    }

    /// Converts a number or a boolean to text, because people write `"PORT": 8080`.
    fn plain(
        &self,
        key: &str,
        value: &Value,
        expected: &'static str,
    ) -> Result<String, EntryError> {
        match value {
            Value::String(text) => self.expansion.expand(key, text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(choice) => Ok(choice.to_string()),
            _ => Err(wrong(key, expected)),
        }
    }
}

/// Whether the authority of a URL has a user name or a password.
fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '\\', '?', '#']).next();
    authority.is_some_and(|authority| authority.contains('@'))
}

fn wrong(key: &str, expected: &'static str) -> EntryError {
    EntryError::WrongKind {
        key: key.to_owned(),
        expected,
    }
}

/// Splits a command line into words, with quotes as in a shell; no other character is special. Text
/// between `${` and `}` is not split.
fn words(line: &str) -> Result<Vec<String>, EntryError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let (mut last, mut is_reference) = (' ', false);
    for character in line.chars() {
        let before = std::mem::replace(&mut last, character);
        if is_reference || (before, character) == ('$', '{') {
            is_reference = character != '}';
            word.get_or_insert_default().push(character);
            continue;
        }
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(EntryError::OpenQuote {
            line: line.to_owned(),
        });
    }
    words.extend(word);
    Ok(words)
}
