//! Reads the answer to a call.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Complete, CreateTaskResult, InputRequiredResult, Outcome, lenient};

use crate::{error::CallError, link::Link};

/// The subject of a call, for reading its answer.
pub(crate) struct AnswerReader<'a> {
    pub(crate) link: &'a Link,
    pub(crate) method: &'a str,
    /// The tool, the prompt or the resource; empty for other calls.
    pub(crate) subject: &'a str,
}

/// The content of an answer.
pub(crate) enum Parsed<R> {
    /// The result.
    Done(R),
    /// The server wants something first.
    Asked(InputRequiredResult),
    /// The result comes later.
    Task(CreateTaskResult),
}

impl<R> Parsed<R> {
    /// The result, where the answer can be nothing else.
    pub(crate) fn done(self, reader: &AnswerReader<'_>) -> Result<R, CallError> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Asked(_) | Self::Task(_) => {
                Err(reader.malformed("nothing can be asked or put off here"))
            }
        }
    }
}

impl AnswerReader<'_> {
    /// Reads an answer that can only be the result.
    pub(crate) fn complete<R: DeserializeOwned>(&self, raw: &RawValue) -> Result<R, CallError> {
        if self.link.revision().is_modern() {
            self.parse::<Complete<R>>(raw).map(|complete| complete.0)
        } else {
            self.parse(raw)
        }
    }

    /// Reads an answer that may be a question.
    pub(crate) fn outcome<R: DeserializeOwned>(
        &self,
        raw: &RawValue,
    ) -> Result<Parsed<R>, CallError> {
        if !self.link.revision().is_modern() {
            return self.parse(raw).map(Parsed::Done);
        }
        match serde_json::from_str::<Outcome<R>>(raw.get()) {
            Ok(Outcome::Complete(result)) => Ok(Parsed::Done(result)),
            Ok(Outcome::InputRequired(asked)) => Ok(Parsed::Asked(asked)),
            Ok(_) => Err(self.malformed("its type is not known here")),
            // A question is read whole or not at all; of a result what can be.
            Err(error) => self
                .mend::<Complete<R>>(raw, error)
                .map(|complete| Parsed::Done(complete.0)),
        }
    }

    /// Reads an answer. Parts of it that cannot be read are left out, and
    /// [warned of](crate::Connection::warnings).
    pub(crate) fn parse<T: DeserializeOwned>(&self, raw: &RawValue) -> Result<T, CallError> {
        serde_json::from_str(raw.get()).or_else(|error| self.mend(raw, error))
    }

    #[cold]
    fn mend<T: DeserializeOwned>(
        &self,
        raw: &RawValue,
        error: serde_json::Error,
    ) -> Result<T, CallError> {
        let server = self.link.server();
        let (read, warnings) = lenient::mend(self.method, raw.get())
            .ok_or_else(|| CallError::malformed(server.clone(), self.method, error))?;
        self.link.warnings.add(server, warnings);
        Ok(read)
    }

    pub(crate) fn malformed(&self, problem: &str) -> CallError {
        let source = serde::de::Error::custom(problem);
        CallError::malformed(self.link.server().clone(), self.method, source)
    }
}
