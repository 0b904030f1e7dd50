//! How a command ends: with a code that scripts can rely on, and a hint for people.

use std::{error::Error, fmt, process::ExitCode};

use turnbuckle::{CallError, ConnectError, protocol::error::code};

use crate::{argument::ArgumentError, target::Server};

/// What `--help` says about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    done
  1    the tool ran and reported an error, or what was compared differs
  2    usage or arguments: nothing was called
  3    cannot connect
  4    the server answered with an error, or broke the protocol
  5    authorization is missing or was refused
  6    input is needed, and there is nobody to ask
  7    timed out
  130  interrupted";

/// What to do where a server wants to know who asks.
const LOGIN: &str = "`turnbuckle login SERVER` signs in";

/// The same, with its name.
fn login(server: &Server) -> String {
    format!("`{}` signs in", server.line("login", ""))
}

/// Why a command did not end well; the number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Tool = 1,
    Usage = 2,
    Connect = 3,
    Protocol = 4,
    Authorization = 5,
    Input = 6,
    Timeout = 7,
    Interrupted = 130,
}

/// A command that did not end well.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) code: Code,
    source: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
}

pub(crate) type Outcome<T = ()> = Result<T, Failed>;

impl Failed {
    pub(crate) fn new(code: Code, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            code,
            source: source.into(),
            hint: None,
        }
    }

    pub(crate) fn usage(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Code::Usage, source)
    }

    /// What to do next, in one line.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What went wrong with this server: what to do next names it.
    pub(crate) fn with(self, server: &Server) -> Self {
        match (self.hint.as_deref(), self.code) {
            (Some(LOGIN), _) => self.hint(login(server)),
            (None, Code::Connect) => self.see_doctor(server),
            _ => self,
        }
    }

    /// The same where there was no connection at all.
    pub(crate) fn without_connection(self, server: &Server) -> Self {
        match self.hint {
            None => self.see_doctor(server),
            Some(_) => self.with(server),
        }
    }

    fn see_doctor(self, server: &Server) -> Self {
        let line = server.line("doctor", "");
        self.hint(format!("`{line}` looks for what is in the way"))
    }

    /// The error alone, for whoever shows it in another way.
    pub(crate) fn said(&self) -> String {
        self.source.to_string()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code as u8)
    }
}

/// Causes that say in other words what stands around them.
const NO_NEWS: [&str; 2] = ["client error (Connect)", "tcp connect error"];

/// The error, its causes, and the hint: what a person sees.
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.source)?;
        let mut said = self.source.to_string();
        let mut source = self.source.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Some errors repeat their cause in their own words.
            if !said.contains(&text) && !NO_NEWS.contains(&text.as_str()) {
                write!(f, "\n  because: {text}")?;
            }
            said = text;
            source = cause.source();
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<ArgumentError> for Failed {
    fn from(error: ArgumentError) -> Self {
        Self::usage(error)
    }
}

impl From<ConnectError> for Failed {
    fn from(error: ConnectError) -> Self {
        let (code, hint) = match &error {
            ConnectError::Unauthorized { .. } | ConnectError::Authorization { .. } => {
                (Code::Authorization, Some(LOGIN))
            }
            ConnectError::TimedOut { .. } => (Code::Timeout, None),
            ConnectError::Unsupported { .. } => (
                Code::Protocol,
                Some("without `--revision` and `--era`, what both sides speak is found out"),
            ),
            ConnectError::Refused { .. } => (Code::Protocol, None),
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
        let failed = Self::new(code, error);
        if code == Code::Authorization {
            return failed.hint(LOGIN);
        }
        failed
    }
}
