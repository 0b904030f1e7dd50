//! Why a model gave no answer.

use std::time::Duration;

use turnbuckle_transport::http::client::HttpError;

use crate::format::AnswerError;

/// Why a model gave no answer, or an incomplete one. No message contains the API key.
///
/// Use [`is_transient`](Self::is_transient) to decide whether to retry, and [`hint`](Self::hint) to
/// tell the user what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The API does not accept the key, or the key has no access to the model (status 401 or 403).
    #[error("{api} refused the API key (status {status}): {message}")]
    Unauthorized {
        /// The URL of the API.
        api: String,
        /// The HTTP status.
        status: u16,
        /// The message of the API.
        message: String,
    },
    /// The API requires a key, and no key was given.
    #[error("{api} needs an API key")]
    NoKey {
        /// The URL of the API.
        api: String,
    },
    /// The API does not know the model, or there is no such API at the URL (status 404).
    #[error("{api} does not know model `{model}`: {message}")]
    UnknownModel {
        /// The URL of the API.
        api: String,
        /// The name of the model.
        model: String,
        /// The message of the API.
        message: String,
    },
    /// There were too many requests or tokens, or there is no credit left (status 429).
    #[error("{api} refused the request, because a rate or spending limit was reached: {message}")]
    RateLimited {
        /// The URL of the API.
        api: String,
        /// The message of the API.
        message: String,
        /// How long to wait, if the API says so.
        retry_after: Option<Duration>,
        /// Whether waiting does not help, because the credit is used up.
        is_spent: bool,
    },
    /// The API failed (status 408, or 500 and above).
    #[error("{api} failed with status {status}: {message}")]
    Unavailable {
        /// The URL of the API.
        api: String,
        /// The HTTP status.
        status: u16,
        /// The message of the API.
        message: String,
        /// How long to wait, if the API says so.
        retry_after: Option<Duration>,
    },
    /// The API refused the request (any other error status).
    #[error("{api} refused the request with status {status}: {message}")]
    Refused {
        /// The URL of the API.
        api: String,
        /// The HTTP status.
        status: u16,
        /// The message of the API.
        message: String,
    },
    /// There was no HTTP response.
    #[error("no answer from {api}")]
    Http {
        /// The URL of the API.
        api: String,
        /// The cause.
        source: Box<HttpError>,
    },
    /// The answer ended before it was complete.
    #[error("the answer of {api} broke off: {reason}")]
    BrokenOff {
        /// The URL of the API.
        api: String,
        /// What is missing, or the message of the API.
        reason: String,
        /// The failure of the connection, if that is the cause.
        source: Option<Box<HttpError>>,
    },
    /// The API sent nothing for too long.
    #[error("{api} sent nothing for {} s", limit.as_secs())]
    Silent {
        /// The URL of the API.
        api: String,
        /// The time limit.
        limit: Duration,
    },
    /// The answer is longer than the limit.
    #[error("the answer of {api} is longer than {limit} bytes")]
    TooLong {
        /// The URL of the API.
        api: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer does not have the format of this API.
    #[error("the answer of {api} does not have the format of this API")]
    Answer {
        /// The URL of the API.
        api: String,
        /// The problem.
        source: AnswerError,
    },
    /// The key would be sent unencrypted over the network.
    #[error("the API key was not sent to {api}, which is neither https nor on this machine")]
    PlainHttp {
        /// The URL of the API.
        api: String,
    },
    /// The name of the model does not tell its provider.
    #[error("unknown provider of model `{model}`")]
    UnknownPlace {
        /// The name.
        model: String,
    },
    /// The name of the model is missing after the name of its provider.
    #[error("`{model}` lacks the name of a model")]
    NoName {
        /// The text that was given.
        model: String,
    },
    /// The provider of the model needs an API key, and no key was given.
    #[error("no API key for model `{model}`")]
    MissingKey {
        /// The name of the model.
        model: String,
        /// The environment variable in which the key is looked for.
        variable: &'static str,
    },
    /// The script has no more turns, or its next turn does not match the conversation.
    #[error("script `{script}`: {reason}")]
    Script {
        /// The file.
        script: String,
        /// The problem.
        reason: String,
    },
}

impl ModelError {
    /// What the user can do about the error, as a clause. `None` if there is no advice.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unauthorized { .. } | Self::NoKey { .. } => {
                "check the key in the environment or the keyring".to_owned()
            }
            Self::UnknownModel { .. } => "check the model's name and the API's URL".to_owned(),
            Self::RateLimited { is_spent: true, .. } => {
                "check the credit and the limits of the account".to_owned()
            }
            Self::RateLimited {
                retry_after: Some(time),
                ..
            }
            | Self::Unavailable {
                retry_after: Some(time),
                ..
            } => format!("try again in {} s", time.as_secs().max(1)),
            Self::RateLimited { .. } => {
                "try again later, or check the limits of the account".to_owned()
            }
            Self::Unavailable { .. } | Self::BrokenOff { .. } => "try again".to_owned(),
            Self::Http { .. } => "check the API's URL, and that the server runs".to_owned(),
            Self::UnknownPlace { .. } | Self::NoName { .. } => {
                "name it `anthropic:NAME`, `openai:NAME`, `ollama:NAME` or `scripted:FILE`, or give the \
                 URL of its API"
                    .to_owned()
            }
            Self::MissingKey { variable, .. } => format!("set {variable}"),
            Self::Answer { .. } => "check the API's URL, and that it speaks this format".to_owned(),
            Self::PlainHttp { .. } => "use an https URL, or leave out the key".to_owned(),
            _ => return None,
        })
    }

    /// How long the API asks clients to wait, if it says so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Whether the same request may succeed later, because the API is busy or failed, or the
    /// network failed. Returns false for wrong keys, names and requests, and for an account without
    /// credit.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { is_spent, .. } => !is_spent,
            Self::Unavailable { .. } | Self::BrokenOff { .. } | Self::Silent { .. } => true,
            Self::Http { source, .. } => source.is_unanswered(),
            _ => false,
        }
    }
}
