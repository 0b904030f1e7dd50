//! The command line that is equivalent to an exchange, ready to be pasted into a shell.

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use turnbuckle_command_line::{
    argument::{self, Tree},
    shell::{line, quote},
    target::{self, EraName, Options},
};
use turnbuckle_host::config::Launch;

use super::{
    exchange::Wanted,
    http_row,
    message::object_of,
    offer::Offer,
    origin::{Origin, Pin, shown},
};

/// The common parts of every command line for a server, each quoted for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Shell {
    /// `cd` to the folder in which the server is started.
    before: String,
    /// The connection options.
    options: String,
    /// The server, if it is a single word.
    server: String,
    /// `--` and the command of the server.
    command: String,
}

impl Shell {
    pub(super) fn of(options: &Options, pin: Pin, origin: &Origin, launch: &Launch) -> Self {
        let mut words = pins(pin);
        if let Some(word) = &origin.word {
            let config = options.config.as_ref();
            words.extend(config.map(|file| named("--config", &file.to_string_lossy())));
            words.extend(reach(options, launch));
            return Self::new(&words, quote(word), String::new());
        }
        words.extend(reach(options, launch));
        match launch {
            Launch::Remote(_) => Self::new(&words, quote(&shown(launch)), String::new()),
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => {
                let mut command = vec!["--".to_owned()];
                if !environment.is_empty() {
                    command.push("env".to_owned());
                    command.extend(environment.iter().map(assigned));
                }
                let started = std::iter::once(program).chain(arguments);
                command.extend(started.map(|word| expanded(word)));
                let shell = Self::new(&words, String::new(), command.join(" "));
                let folder = folder.as_ref().map(|folder| folder.to_string_lossy());
                let before = folder.map(|folder| format!("cd {} &&", quote(&folder)));
                Self {
                    before: before.unwrap_or_default(),
                    ..shell
                }
            }
        }
    }

    fn new(options: &[String], server: String, command: String) -> Self {
        Self {
            before: String::new(),
            options: options.join(" "),
            server,
            command,
        }
    }

    /// The command line for `verb` with these words.
    fn line(&self, verb: &str, words: &[String]) -> String {
        let words = line(words.iter().map(String::as_str));
        let parts = ["turnbuckle", verb, &self.options, &self.server];
        let parts = parts.into_iter().chain([&*words, &*self.command]);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }

    /// The command line for an exchange; `None` if there is no such command.
    pub(super) fn exchange(&self, offer: Option<&Offer>, wanted: &Wanted) -> Option<String> {
        let params = wanted.params.as_deref().map_or("{}", RawValue::get);
        let object = object_of(params);
        let mut input = None;
        let (verb, words) = match wanted.method.as_str() {
            "tools/call" => {
                let tool = object?;
                let schemas = offer.and_then(|offer| offer.tool(&tool));
                let schema = schemas.and_then(|schemas| schemas.input_schema);
                let (arguments, stdin) = arguments(params, &schema.unwrap_or_default())?;
                input = stdin;
                ("call", std::iter::once(tool).chain(arguments).collect())
            }
            "prompts/get" => {
                let prompt = object?;
                let schema = offer.and_then(|offer| offer.prompt(&prompt));
                let (arguments, stdin) = arguments(params, &schema.unwrap_or_default())?;
                input = stdin;
                ("get", std::iter::once(prompt).chain(arguments).collect())
            }
            "resources/read" => ("read", vec![object?]),
            "completion/complete" => ("complete", completion(params)?),
            "tools/list" => ("list", Vec::new()),
            _ => return None,
        };
        let line = self.line(verb, &words);
        let line = match input {
            Some(json) => format!("printf %s {} | {line}", quote(&json)),
            None => line,
        };
        Some(match &*self.before {
            "" => line,
            before => format!("{before} {line}"),
        })
    }
}

/// The options for an HTTP server. A header that may be a secret is taken from an environment variable, so that
/// the shown and copied text contains no secret.
fn reach(options: &Options, launch: &Launch) -> Vec<String> {
    if !matches!(launch, Launch::Remote(_)) {
        return Vec::new();
    }
    let mut words: Vec<String> = options.headers.iter().map(|header| sent(header)).collect();
    words.extend(options.proxy.as_ref().map(|url| named("--proxy", url)));
    let authority = options.cacert.as_ref();
    words.extend(authority.map(|file| named("--cacert", &file.to_string_lossy())));
    words.extend(options.insecure.then(|| "--insecure".to_owned()));
    words
}

/// A variable for `env`. A value that may be a secret is taken from the environment.
fn assigned((name, value): &(String, String)) -> String {
    if may_be_secret(name, value) {
        // A name in a config file can be any text. It must not become shell code.
        return match variable_of(name) {
            Some(variable) => format!("{}=\"{variable}\"", quote(name)),
            None => quote(&format!("{name}=…")),
        };
    }
    format!("{}={}", quote(name), expanded(value))
}

fn may_be_secret(name: &str, value: &str) -> bool {
    const WORDS: [&str; 5] = ["pass", "pwd", "credential", "auth", "dsn"];
    let lower = name.to_ascii_lowercase();
    // A URL can contain a password before its host.
    let has_password = value.contains("://") && value.contains('@');
    http_row::is_secret(name) || has_password || WORDS.iter().any(|word| lower.contains(word))
}

/// A word for a shell, in which the shell expands what Turnbuckle would: `${input:…}` and `${…}` become
/// environment variables.
fn expanded(word: &str) -> String {
    let mut rest = word;
    let mut made = String::new();
    let mut has_variable = false;
    let plain = |text: &str, made: &mut String| {
        for character in text.chars() {
            if "\"\\$`".contains(character) {
                made.push('\\');
            }
            made.push(character);
        }
    };
    while let Some(start) = rest.find("${")
        && let Some(length) = rest[start..].find('}')
    {
        let reference = &rest[start + 2..start + length];
        plain(&rest[..start], &mut made);
        match variable_of(reference) {
            Some(variable) => {
                has_variable = true;
                made.push_str(&variable);
            }
            None => plain(&rest[start..=start + length], &mut made),
        }
        rest = &rest[start + length + 1..];
    }
    plain(rest, &mut made);
    if has_variable {
        format!("\"{made}\"")
    } else {
        quote(word)
    }
}

/// A reference in a config file (the text inside `${…}`) as a shell variable. The shell reports an error if it has
/// no value.
fn variable_of(reference: &str) -> Option<String> {
    if let Some(id) = reference.strip_prefix("input:") {
        return Some(format!("${{{}:?}}", target::input_variable(id)));
    }
    let reference = reference.strip_prefix("env:").unwrap_or(reference);
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    let is_start = |first: char| first.is_ascii_alphabetic() || first == '_';
    let is_name = name.starts_with(is_start)
        && name
            .chars()
            .all(|other| other.is_ascii_alphanumeric() || other == '_');
    let is_plain = |text: &str| !text.contains(['"', '\\', '$', '`', '{']);
    match default {
        Some(default) if is_name && is_plain(default) => Some(format!("${{{name}:-{default}}}")),
        None if is_name => Some(format!("${{{name}:?}}")),
        _ => None,
    }
}

fn named(option: &str, value: &str) -> String {
    format!("{option} {}", quote(value))
}

fn sent(header: &str) -> String {
    let name = header.split(':').next().unwrap_or_default().trim();
    if !http_row::is_secret(name) {
        return named("--header", header);
    }
    let variable: String = name
        .chars()
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_ascii_uppercase(),
            _ => '_',
        })
        .collect();
    format!("--header \"{name}: ${variable}\"")
}

fn pins(pin: Pin) -> Vec<String> {
    match (pin.revision, pin.era) {
        (Some(revision), _) => vec![format!("--revision {revision}")],
        (None, Some(EraName::Legacy)) => vec!["--era legacy".to_owned()],
        (None, Some(EraName::Modern)) => vec!["--era modern".to_owned()],
        (None, None) => Vec::new(),
    }
}

/// Arguments as words that give the same JSON; if that is impossible, `-` and the JSON.
fn arguments(params: &str, schema: &Value) -> Option<(Vec<String>, Option<String>)> {
    let Tree::Object(members) = Tree::parse(params).ok()? else {
        return None;
    };
    let given = members.into_iter().find(|(name, _)| name == "arguments");
    let Some((_, given)) = given else {
        return Some((Vec::new(), None));
    };
    let json = given.to_json();
    let Tree::Object(members) = given else {
        return None;
    };
    let words: Option<Vec<String>> = members
        .iter()
        .map(|(key, value)| word(key, value, schema))
        .collect();
    Some(match words {
        Some(words) => (words, None),
        None => (vec!["-".to_owned()], Some(json)),
    })
}

/// The shortest word with this meaning.
fn word(key: &str, value: &Tree, schema: &Value) -> Option<String> {
    let json = value.to_json();
    let plain = match serde_json::from_str::<String>(&json) {
        Ok(text) => format!("{key}={text}"),
        Err(_) => format!("{key}={json}"),
    };
    let wanted = Tree::Object(vec![(key.to_owned(), value.clone())]).to_json();
    [plain, format!("{key}:={json}")].into_iter().find(|word| {
        // A word that begins with `-` would be an option, and one with `=@` a file.
        let is_safe = !word.starts_with('-') && !word.contains("=@");
        let read = || argument::read(std::slice::from_ref(word), schema);
        is_safe && read().is_ok_and(|tree| tree.to_json() == wanted)
    })
}

/// The words for `complete`: the prompt or template, the arguments so far, and the one that is being typed.
fn completion(params: &str) -> Option<Vec<String>> {
    let params: Value = serde_json::from_str(params).ok()?;
    let reference = params.get("ref")?;
    let of = reference.get("name").or_else(|| reference.get("uri"))?;
    let typed = params.get("argument")?;
    let pair = |name: &str, value: &str| format!("{name}={value}");
    let mut words = vec![of.as_str()?.to_owned()];
    let settled = params.pointer("/context/arguments");
    for (name, value) in settled.and_then(Value::as_object).into_iter().flatten() {
        words.push(pair(name, value.as_str()?));
    }
    let value = typed.get("value")?.as_str()?;
    words.push(pair(typed.get("name")?.as_str()?, value));
    Some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_are_named_and_secrets_left_to_the_environment() {
        assert_eq!(
            sent("Authorization: Bearer hunter2"),
            "--header \"Authorization: $AUTHORIZATION\""
        );
        assert_eq!(
            sent("X-Api-Key: hunter2"),
            "--header \"X-Api-Key: $X_API_KEY\""
        );
        assert_eq!(sent("X-Team: blue sky"), "--header 'X-Team: blue sky'");
    }

    #[test]
    fn names_of_variables_cannot_run_commands() {
        let line = |name: &str, value: &str| assigned(&(name.to_owned(), value.to_owned()));
        assert_eq!(line("DB_PASS", "hunter2"), "DB_PASS=\"${DB_PASS:?}\"");
        assert_eq!(line("REGION", "eu"), "REGION=eu");
        // A name that a shell would execute or expand is quoted as a whole.
        for name in ["PASS}\"; touch x; \"", "PASS$(touch x)", "PASS`touch x`"] {
            assert_eq!(line(name, "hunter2"), format!("'{name}=…'"));
        }
        for (name, value) in [
            ("DATABASE_URL", "postgres://ada:hunter2@host/db"),
            ("MY_DSN", "hunter2"),
            ("CREDENTIALS", "hunter2"),
        ] {
            assert!(!line(name, value).contains("hunter2"), "{name}");
        }
    }

    #[test]
    fn a_line_has_what_the_connection_has() {
        let shell = Shell::new(
            &[
                "--revision 2025-06-18".to_owned(),
                named("--config", "a b.json"),
            ],
            "lab".to_owned(),
            String::new(),
        );
        assert_eq!(
            shell.line("call", &["echo".to_owned(), "text=a b".to_owned()]),
            "turnbuckle call --revision 2025-06-18 --config 'a b.json' lab echo 'text=a b'"
        );
        let shell = Shell::new(&[], String::new(), "-- npx x".to_owned());
        assert_eq!(shell.line("list", &[]), "turnbuckle list -- npx x");
    }

    #[test]
    fn a_server_of_the_form_has_its_environment_folder_and_inputs() {
        let launch = Launch::Command {
            program: "python3".to_owned(),
            arguments: [
                "a b.py",
                "--dsn",
                "x:${input:dsn}",
                "$5",
                "${workspaceFolder.x}",
            ]
            .map(str::to_owned)
            .into(),
            environment: vec![
                ("TITLE".to_owned(), "First $one".to_owned()),
                ("API_KEY".to_owned(), "hunter2".to_owned()),
                ("LEVEL".to_owned(), "${env:LEVEL:-2}".to_owned()),
            ],
            folder: Some("/tmp/my work".into()),
        };
        let origin = Origin::given("the page");
        let shell = Shell::of(&Options::default(), Pin::default(), &origin, &launch);
        let wanted = Wanted {
            method: "tools/list".to_owned(),
            params: None,
            task: false,
            log_level: None,
        };
        assert_eq!(
            shell.exchange(None, &wanted).unwrap(),
            "cd '/tmp/my work' && turnbuckle list -- env TITLE='First $one' \
             API_KEY=\"${API_KEY:?}\" LEVEL=\"${LEVEL:-2}\" python3 'a b.py' --dsn \
             \"x:${TURNBUCKLE_INPUT_DSN:?}\" '$5' '${workspaceFolder.x}'"
        );
    }

    #[test]
    fn arguments_read_back_as_they_were() {
        let schema = json!({"properties": {
            "text": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array"}}});
        for (given, wanted) in [
            (r#"{"text":"hi"}"#, &["text=hi"][..]),
            (
                r#"{"text":"7","n":12345678901234567890123}"#,
                &["text=7", "n=12345678901234567890123"],
            ),
            (r#"{"text":"@file"}"#, &[r#"text:="@file""#]),
            (r#"{"list":[1.50,"a"]}"#, &[r#"list=[1.50,"a"]"#]),
        ] {
            let params = format!("{{\"arguments\":{given}}}");
            let (words, input) = arguments(&params, &schema).unwrap();
            assert_eq!(input, None, "{given}");
            let read = argument::read(&words, &schema).unwrap().to_json();
            assert_eq!(read, given);
            assert_eq!(words, wanted, "{given}");
        }
    }

    #[test]
    fn what_has_no_word_goes_by_stdin() {
        let given = r#"{"a=b":1,"-x":2}"#;
        let params = format!("{{\"arguments\":{given}}}");
        let (words, input) = arguments(&params, &json!({})).unwrap();
        assert_eq!(
            (words, input.as_deref()),
            (vec!["-".to_owned()], Some(given))
        );
    }
}
