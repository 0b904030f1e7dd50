//! Why a search failed, with everything that it tried.

use std::{fmt, time::Duration};

use turnbuckle_protocol::Revision;

use super::{Asked, ProbeRefusal};
use crate::negotiate::dates;

/// How many of a server's versions a failure keeps, and how many characters of each: enough for a user
/// to read, but too few for a server to fill a log.
const OFFERED_SHOWN: usize = 8;
const VERSION_SHOWN: usize = 32;
/// How many characters of a server's error message a failure keeps.
const MESSAGE_SHOWN: usize = 300;

/// Why a search failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", AttemptList(tried))]
#[non_exhaustive]
pub struct ProbeFailure {
    /// The reason.
    pub reason: Reason,
    /// Everything that was tried, in order.
    pub tried: Vec<Attempt>,
}

/// The reason why a probe failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The settings allow no revision.
    #[error("the settings allow no revision: pin a revision that is also supported, or pin none")]
    NothingAllowed,
    /// The server has listed its revisions, and none of them is allowed here.
    #[error(
        "the server speaks {}; allowed here: {}",
        Offered(offered),
        dates(allowed)
    )]
    NoCommonRevision {
        /// The versions that the server listed, shortened if there are many.
        offered: Vec<String>,
        /// The revisions that were allowed.
        allowed: Vec<Revision>,
    },
    /// The server answered `initialize` with a version that is not allowed here.
    #[error(
        "the server answered `initialize` with version `{answered}`; allowed here: {}",
        dates(allowed)
    )]
    UnsupportedAnswer {
        /// The version, shortened if it is very long.
        answered: String,
        /// The revisions that were allowed.
        allowed: Vec<Revision>,
    },
    /// The search was for a modern revision, and the server has none.
    #[error("the server does not speak a modern revision: allow the legacy ones to use it")]
    NotModern,
    /// The server responds, but refuses.
    #[error("{}", RefusalText { asked: *asked, refusal: *refusal, message })]
    Refused {
        /// The request that it refused.
        asked: Asked,
        /// The kind of refusal.
        refusal: ProbeRefusal,
        /// Its message, shortened if it is very long.
        message: String,
    },
    /// The server did not answer in time.
    #[error("the server does not answer")]
    Unresponsive,
    /// The server closed the connection or exited.
    #[error("the server closed the connection: its log or standard error may say why")]
    Closed,
    /// The messages of the server did not answer any request.
    #[error("the server's answers do not match the requests: is it an MCP server?")]
    Odd,
}

/// One step of a search and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The step.
    pub step: Step,
    /// The outcome; `None` until it is known.
    pub outcome: Option<Outcome>,
}

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A request was sent, at this version.
    Ask(Asked, Revision),
    /// The server was started again.
    Reopen,
    /// The server was started a second time, while the first process was running.
    OpenSecond,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A result.
    Answered,
    /// An answer that is not a result.
    Refused {
        /// The kind of refusal.
        refusal: ProbeRefusal,
        /// Its message, shortened if it is very long.
        message: String,
    },
    /// An answer that fits no request.
    Odd,
    /// No answer for this long.
    Silent(Duration),
    /// The end of the connection.
    Closed,
}

impl Outcome {
    pub(super) fn refused(refusal: ProbeRefusal, message: &str) -> Self {
        Self::Refused {
            refusal,
            message: clip(message, MESSAGE_SHOWN),
        }
    }

    pub(super) fn into_reason(self, asked: Asked) -> Reason {
        match self {
            Self::Refused { refusal, message } => Reason::Refused {
                asked,
                refusal,
                message,
            },
            Self::Odd | Self::Answered => Reason::Odd,
            Self::Silent(_) => Reason::Unresponsive,
            Self::Closed => Reason::Closed,
        }
    }
}

impl Reason {
    pub(super) fn no_common(offered: &[String], allowed: &[Revision]) -> Self {
        let offered = offered.iter().take(OFFERED_SHOWN);
        let offered = offered
            .map(|version| clip(version, VERSION_SHOWN))
            .collect();
        Self::NoCommonRevision {
            offered,
            allowed: allowed.to_vec(),
        }
    }

    pub(super) fn unsupported_answer(answered: &str, allowed: &[Revision]) -> Self {
        let answered = clip(answered, VERSION_SHOWN);
        Self::UnsupportedAnswer {
            answered,
            allowed: allowed.to_vec(),
        }
    }
}

fn clip(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Step::Ask(asked, version) => write!(f, "`{asked}` at {version}")?,
            Step::Reopen => f.write_str("connected again")?,
            Step::OpenSecond => f.write_str("started the server a second time")?,
        }
        match &self.outcome {
            None | Some(Outcome::Answered) => Ok(()),
            Some(Outcome::Refused { refusal, message }) => match refusal {
                ProbeRefusal::Error(code) => write!(f, ": error {code} ({message})"),
                ProbeRefusal::Status(status) => write!(f, ": HTTP status {status}"),
                // The reason repeats this answer, so it is not repeated here.
                ProbeRefusal::NoAnswer => f.write_str(": the answer is not MCP"),
            },
            Some(Outcome::Odd) => f.write_str(": the answer does not match the request"),
            Some(Outcome::Silent(waited)) => write!(f, ": no answer within {waited:?}"),
            Some(Outcome::Closed) => f.write_str(": connection closed"),
        }
    }
}

/// A refusal as a sentence.
struct RefusalText<'a> {
    asked: Asked,
    refusal: ProbeRefusal,
    message: &'a str,
}

impl fmt::Display for RefusalText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, message, .. } = self;
        match self.refusal {
            ProbeRefusal::Error(code) => write!(
                f,
                "the server refused `{asked}` with error {code}: {message}"
            ),
            ProbeRefusal::Status(status) => {
                let text = format!("HTTP status {status} {message}");
                write!(f, "the server refused `{asked}` with {}", text.trim_end())
            }
            ProbeRefusal::NoAnswer => f.write_str(message),
        }
    }
}

/// The attempts as the end of a sentence.
struct AttemptList<'a>(&'a [Attempt]);

impl fmt::Display for AttemptList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, attempt) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { " (tried: " } else { "; " })?;
            attempt.fmt(f)?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

/// The versions of a server, as a list in a sentence.
struct Offered<'a>(&'a [String]);

impl fmt::Display for Offered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("versions that it does not list");
        }
        f.write_str(&self.0.join(", "))
    }
}
