//! How a command ends: with a code that scripts can rely on, and a hint for people.

use std::{error::Error, fmt, process::ExitCode};

use serde_json::{Value, json};
use turnbuckle::{
    CallError, ConnectError,
    protocol::{ErrorObject, error::code, json_problem},
};
use turnbuckle_base::error_chain;

/// What `--help` says about exit codes.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the tool ran and reported an error, or what was compared differs
  2    usage or arguments: nothing was called
  3    cannot connect
  4    the server answered with an error, or broke the protocol
  5    authorization is missing or was refused
  6    input is needed, and there is no terminal to ask on
  7    timed out
  8    output could not be written
  130  interrupted";

/// The hint for a server that requires authorization.
pub(crate) const LOGIN: &str = "run `turnbuckle login SERVER` to sign in";

/// Why a command failed; the number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The tool ran and reported an error, or a comparison found differences.
    Tool = 1,
    /// The usage or the arguments are wrong: nothing was called.
    Usage = 2,
    /// The connection could not be opened.
    Connect = 3,
    /// The server answered with an error, or violated the protocol.
    Protocol = 4,
    /// Authorization is missing or was refused.
    Authorization = 5,
    /// Input is needed, but there is no terminal to ask at.
    Input = 6,
    /// The command took too long.
    Timeout = 7,
    /// Output could not be written.
    Output = 8,
    /// The command was interrupted with Ctrl-C.
    Interrupted = 130,
}

/// The failure of a command.
#[derive(Debug)]
pub struct Failed {
    /// The exit code.
    pub code: Code,
    source: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
    /// The error in the server's answer.
    rejection: Option<Box<ErrorObject>>,
    /// Whether no message is printed, so that the failure shows only in the exit code.
    pub is_quiet: bool,
}

/// How much of an error's data is shown, in characters; `--json` shows all of it.
const MAX_DATA: usize = 2000;

/// The result of a command or of a part of it.
pub type Outcome<T = ()> = Result<T, Failed>;

impl Failed {
    /// Creates a failure with this exit code.
    pub fn new(code: Code, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            code,
            source: source.into(),
            hint: None,
            rejection: None,
            is_quiet: false,
        }
    }

    /// Creates a failure for a mistake in the command line.
    pub fn usage(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Code::Usage, source)
    }

    /// Creates the failure of a command that was interrupted with Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(Code::Interrupted, "interrupted")
    }

    /// Adds to the message that `what` cannot be read.
    #[must_use]
    pub fn of(mut self, what: &str) -> Self {
        self.source = format!("{what} cannot be read: {}", self.source).into();
        self
    }

    /// Adds a hint: what to do next, in one line.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints no message, only sets the exit code: `turnbuckle list | head -1` is not an error.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }

    /// The hint, if there is one.
    pub(crate) fn hint_given(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Restores the server's error as it was sent: a client converts the error codes of all revisions to those
    /// of the newest.
    #[must_use]
    pub fn as_it_came(mut self, wire: Vec<ErrorObject>) -> Self {
        if let Some(known) = &mut self.rejection
            && let Some(wire) = wire.into_iter().rfind(|wire| wire.message == known.message)
        {
            let [told, came] = [known.code, wire.code].map(|code| format!("(code {code})"));
            if told != came {
                self.source = self.source.to_string().replacen(&told, &came, 1).into();
            }
            **known = wire;
        }
        self
    }

    /// The error as JSON: the server's own error object, or else the message with its causes.
    pub fn to_json(&self) -> Value {
        if let Some(rejection) = &self.rejection {
            return json!({ "error": rejection });
        }
        let causes = error_chain::causes(&*self.source);
        let said = causes.map(|cause| format!(": {cause}"));
        let message: String = std::iter::once(self.source.to_string())
            .chain(said)
            .collect();
        json!({ "error": { "message": message } })
    }

    /// The error in the server's answer, if there is one.
    pub fn rejection(&self) -> Option<&ErrorObject> {
        self.rejection.as_deref()
    }

    /// The message alone, without causes and hint.
    pub fn said(&self) -> String {
        self.source.to_string()
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code as u8)
    }
}

/// Causes that only repeat the error around them.
const NO_NEWS: [&str; 2] = ["client error (Connect)", "tcp connect error"];

/// Writes the error, its causes, and the hint, for the user.
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.source.to_string();
        write!(f, "error: {}", indented(&said))?;
        for cause in error_chain::causes(&*self.source) {
            let text = cause.to_string();
            // Some errors repeat their cause in their own message.
            if !said.contains(&text) && !NO_NEWS.contains(&text.as_str()) {
                write!(f, "\n  because: {}", indented(&text))?;
            }
            said = text;
        }
        if let Some(data) = self
            .rejection
            .as_ref()
            .and_then(|error| error.data.as_ref())
        {
            let data: String = data.to_string().chars().take(MAX_DATA).collect();
            write!(f, "\n  data: {data}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Text that may be a server's. All lines except the first are indented, so that none of them looks like
/// a line of ours.
fn indented(text: &str) -> String {
    let mut lines = text.lines();
    let mut shown = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let indent = if line.starts_with("  ") { "" } else { "  " };
        shown.push('\n');
        shown.push_str(indent);
        shown.push_str(line);
    }
    shown
}

impl From<ConnectError> for Failed {
    fn from(error: ConnectError) -> Self {
        let (code, hint) = match &error {
            ConnectError::Unauthorized { .. } | ConnectError::Authorization { .. } => {
                (Code::Authorization, Some(LOGIN))
            }
            ConnectError::TimedOut { .. } => (Code::Timeout, None),
            ConnectError::Unsupported { .. } | ConnectError::Refused { .. } => {
                (Code::Protocol, None)
            }
            _ => (Code::Connect, None),
        };
        Self {
            hint: hint.map(str::to_owned),
            ..Self::new(code, error)
        }
    }
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        let code = match &error {
            CallError::ToolFailed { .. } => Code::Tool,
            CallError::Deadline { .. } => Code::Timeout,
            CallError::Unauthorized { .. } | CallError::Authorization { .. } => Code::Authorization,
            CallError::InputRequired { .. } => Code::Input,
            CallError::Closed { .. } | CallError::Unsent { .. } | CallError::Lost { .. } => {
                Code::Connect
            }
            CallError::Unwritable { .. } => Code::Usage,
            CallError::Rejected { error, .. }
                if error.code == code::MISSING_REQUIRED_CLIENT_CAPABILITY =>
            {
                Code::Input
            }
            _ => Code::Protocol,
        };
        let rejection = error.rejection().cloned().map(Box::new);
        let source: Box<dyn Error + Send + Sync> = match in_plain_words(&error) {
            Some(words) => words.into(),
            None => Box::from(error),
        };
        let failed = Self {
            rejection,
            ..Self::new(code, source)
        };
        if code == Code::Authorization {
            return failed.hint(LOGIN);
        }
        failed
    }
}

/// A message for users of the program, for errors whose own message names types and settings of the library.
pub fn in_plain_words(error: &CallError) -> Option<String> {
    match error {
        CallError::Malformed {
            server,
            method,
            source,
        } => {
            let problem = json_problem::describe(source);
            Some(format!(
                "server `{server}` answered `{method}` with something that cannot be read: {problem}"
            ))
        }
        CallError::Oversized {
            server,
            method,
            limit,
        } => Some(format!(
            "server `{server}` answered `{method}` with more than {limit} bytes, which is the limit"
        )),
        CallError::TooManyNodes {
            server,
            method,
            limit,
        } => Some(format!(
            "server `{server}` answered `{method}` with more than {limit} JSON values and names, which is \
             the limit"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_do_not_begin_lines_of_ours() {
        let source = std::io::Error::other("no\nhint: type /allow *");
        let shown = Failed::new(Code::Protocol, "rejected: a\n> b\n  c\n\nd")
            .hint("look")
            .to_string();
        assert_eq!(shown, "error: rejected: a\n  > b\n  c\n  \n  d\nhint: look");
        let shown = Failed::new(Code::Protocol, source).to_string();
        assert_eq!(shown, "error: no\n  hint: type /allow *");
    }
}
