//! A file of saved calls, as JSON, or as YAML if its ending says so.

use std::path::Path;

use serde::Deserialize;
use turnbuckle::protocol::JsonObject;
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::expectation::Expectation;

/// The largest file, 16 MiB: files are written by hand, or saved call by call.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// An example of a small file.
const EXAMPLE: &str = r#"example: {"server": "lab", "calls": [{"tool": "echo", "arguments": {"text": "hi"}, "expect": [{"at": "$.content[0].text", "equals": "hi"}]}]}"#;

/// Saved calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The server, if the command line does not name one.
    pub(super) server: Option<String>,
    pub(super) calls: Vec<Case>,
}

/// One saved call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// A name for people.
    name: Option<String>,
    /// The tool to call.
    tool: Option<String>,
    /// The URI of the resource to read.
    resource: Option<String>,
    /// The prompt to get.
    prompt: Option<String>,
    #[serde(default)]
    pub(super) arguments: JsonObject,
    /// Whether the call must fail, with an error result or a JSON-RPC error.
    #[serde(default)]
    pub(super) error: bool,
    #[serde(default)]
    pub(super) expect: Vec<Expectation>,
}

/// What a saved call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called<'c> {
    Tool(&'c str),
    Resource(&'c str),
    Prompt(&'c str),
}

impl File {
    /// Reads a file.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let unread =
            |error: std::io::Error| Failed::usage(format!("cannot read `{shown}`: {error}"));
        let size = std::fs::metadata(path).map_err(unread)?.len();
        if size > MAX_BYTES {
            return Err(Failed::usage(format!(
                "`{shown}` has more than {MAX_BYTES} bytes"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(unread)?;
        let is_yaml = path
            .extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml");
        Self::parse(&text, is_yaml).map_err(|problem| {
            Failed::usage(format!("`{shown}` is not a file of saved calls: {problem}"))
                .hint(EXAMPLE)
        })
    }

    fn parse(text: &str, is_yaml: bool) -> Result<Self, String> {
        let file: Self = if is_yaml {
            serde_saphyr::from_str(text).map_err(|error| first_line(&error.to_string()))?
        } else {
            serde_json::from_str(text).map_err(|error| error.to_string())?
        };
        if file.calls.is_empty() {
            return Err("it has no calls".to_owned());
        }
        for (number, case) in (1..).zip(&file.calls) {
            let said = |problem: String| format!("call {number}: {problem}");
            case.called().map_err(said)?;
            for expectation in &case.expect {
                expectation.check_itself().map_err(said)?;
            }
        }
        Ok(file)
    }
}

/// The message without the excerpt of the file below it.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

impl Case {
    /// What the call calls. Exactly one of three members must be set.
    pub(super) fn called(&self) -> Result<Called<'_>, String> {
        match (&self.tool, &self.resource, &self.prompt) {
            (Some(tool), None, None) => Ok(Called::Tool(tool)),
            (None, Some(uri), None) if self.arguments.is_empty() => Ok(Called::Resource(uri)),
            (None, Some(_), None) => Err("a resource has no `arguments`".to_owned()),
            (None, None, Some(prompt)) => Ok(Called::Prompt(prompt)),
            _ => Err("it must have one of `tool`, `resource` and `prompt`".to_owned()),
        }
    }

    /// The name in reports.
    pub(super) fn title(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        match self.called() {
            Ok(Called::Tool(name) | Called::Prompt(name)) if self.arguments.is_empty() => {
                name.to_owned()
            }
            Ok(Called::Tool(name) | Called::Prompt(name)) => {
                let arguments = serde_json::to_string(&self.arguments).unwrap_or_default();
                format!("{name} {arguments}")
            }
            Ok(Called::Resource(uri)) => uri.to_owned(),
            Err(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_json_or_yaml() {
        let json =
            r#"{"calls": [{"tool": "add", "arguments": {"a": 1}, "expect": [{"equals": 3}]}]}"#;
        let yaml =
            "server: lab\ncalls:\n- tool: add\n  arguments: {a: 1}\n  expect:\n  - equals: 3\n";
        for (text, is_yaml) in [(json, false), (yaml, true)] {
            let file = File::parse(text, is_yaml).unwrap();
            assert_eq!(file.calls[0].called(), Ok(Called::Tool("add")));
            assert_eq!(file.calls[0].title(), r#"add {"a":1}"#);
        }
    }

    #[test]
    fn what_is_wrong_is_said_before_anything_is_called() {
        for (text, said) in [
            (r#"{"calls": []}"#, "it has no calls"),
            (
                r#"{"calls": [{"tool": "a", "prompt": "b"}]}"#,
                "call 1: it must have one of",
            ),
            (
                r#"{"calls": [{"tool": "a", "expects": []}]}"#,
                "unknown field `expects`",
            ),
            (
                r#"{"calls": [{"tool": "a"}, {"tool": "a", "expect": [{"at": "$.x["}]}]}"#,
                "call 2: `$.x[` is not a JSON path",
            ),
            (
                r#"{"calls": [{"tool": "a", "expect": [{"at": "$.x"}]}]}"#,
                "call 1: `at` needs one of",
            ),
            (
                r#"{"calls": [{"tool": "a", "expect": [{"schema": {"type": 7}}]}]}"#,
                "call 1: the schema cannot be used",
            ),
        ] {
            let problem = File::parse(text, false).unwrap_err();
            assert!(problem.contains(said), "{problem}");
        }
    }
}
