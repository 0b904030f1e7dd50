//! Reads the answer to a call.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Complete, CreateTaskResult, InputRequiredResult, Outcome, lenient};

use crate::{error::CallError, link::Link};

/// Reads the answer to a call.
pub(crate) struct AnswerReader<'a> {
    pub(crate) link: &'a Link,
    pub(crate) method: &'a str,
    /// The tool, the prompt or the resource; empty for other calls.
    pub(crate) subject: &'a str,
}

/// An answer that was read.
pub(crate) enum Parsed<R> {
    /// The result.
    Done(R),
    /// The server asks for input first.
    Asked(InputRequiredResult),
    /// The call has become a task, whose result comes later.
    Task(CreateTaskResult),
}

impl<R> Parsed<R> {
    /// Returns the result, or an error for answers that have no other valid form.
    pub(crate) fn done(self, reader: &AnswerReader<'_>) -> Result<R, CallError> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Asked(_) | Self::Task(_) => Err(reader
                .malformed("this method must not be answered with a request for input or a task")),
        }
    }
}

impl AnswerReader<'_> {
    /// Reads an answer that can only be a result.
    pub(crate) fn complete<R: DeserializeOwned>(&self, raw: &RawValue) -> Result<R, CallError> {
        if self.link.revision().is_modern() {
            self.parse::<Complete<R>>(raw).map(|complete| complete.0)
        } else {
            self.parse(raw)
        }
    }

    /// Reads an answer that may be a result or ask for input.
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
            Ok(_) => Err(self.malformed("its `resultType` is unknown")),
            // A question must be readable as a whole; of a result, the readable parts are returned.
            Err(error) => self
                .mend::<Complete<R>>(raw, error)
                .map(|complete| Parsed::Done(complete.0)),
        }
    }

    /// Reads an answer. Parts of it that cannot be read are left out, and added to the
    /// [warnings](crate::Connection::warnings).
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
