//! Converts the errors that handlers return.
//!
//! One conversion takes every error type, `String`, `&'static str`, `Box<dyn Error + Send + Sync>`,
//! and the error types of `anyhow` and `eyre`: all of them become a boxed error. Texts that the
//! author wrote are shown to the reader; this crate's own errors keep their meaning; all other
//! errors are unexpected.

use std::{any::Any, borrow::Cow, error::Error, fmt};

use super::{AskFailed, Fault, Reject};

/// A boxed error that can be sent to another thread.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// What a returned error means for the caller.
pub(super) enum Returned {
    /// A text that the author wrote for the reader.
    Words(String),
    Reject(Reject),
    Fault(Fault),
    AskFailed(AskFailed),
    /// An unexpected error.
    Unexpected(Fault),
}

impl Returned {
    pub(super) fn of<E: Into<BoxError> + 'static>(error: E) -> Self {
        let mut slot = Some(error);
        if let Some(words) = words(&mut slot) {
            return Self::Words(words);
        }
        #[cfg(feature = "anyhow")]
        if let Some(error) = take::<anyhow::Error>(&mut slot) {
            return Self::of_anyhow(error);
        }
        #[cfg(feature = "eyre")]
        if let Some(error) = take::<eyre::Report>(&mut slot) {
            return Self::of_eyre(error);
        }
        match slot {
            Some(error) => Self::of_box(error.into()),
            None => Self::Unexpected(Fault::new("an error of the handler could not be converted")),
        }
    }

    pub(super) fn of_box(error: BoxError) -> Self {
        let error = match error.downcast::<Reject>() {
            Ok(reject) => return Self::Reject(*reject),
            Err(error) => error,
        };
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::Fault(*fault),
            Err(error) => error,
        };
        match error.downcast::<AskFailed>() {
            Ok(failed) => Self::AskFailed(*failed),
            Err(error) => Self::Unexpected(Fault::from_box(error)),
        }
    }

    /// Converts an error that cannot be sent to another thread. Only its texts are kept, unless it
    /// is one of this crate's errors.
    pub(super) fn of_unsendable(error: Box<dyn Error>) -> Self {
        let error = match error.downcast::<Reject>() {
            Ok(reject) => return Self::Reject(*reject),
            Err(error) => error,
        };
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::Fault(*fault),
            Err(error) => error,
        };
        match error.downcast::<AskFailed>() {
            Ok(failed) => Self::AskFailed(*failed),
            Err(error) => Self::Unexpected(Fault::from_box(Box::new(Texts::of(&*error)))),
        }
    }

    #[cfg(feature = "anyhow")]
    fn of_anyhow(error: anyhow::Error) -> Self {
        let error = match error.downcast::<Reject>() {
            Ok(reject) => return Self::Reject(reject),
            Err(error) => error,
        };
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::Fault(fault),
            Err(error) => error,
        };
        match error.downcast::<AskFailed>() {
            Ok(failed) => Self::AskFailed(failed),
            Err(error) => Self::Unexpected(Fault::from_box(error.into())),
        }
    }

    #[cfg(feature = "eyre")]
    fn of_eyre(error: eyre::Report) -> Self {
        let error = match error.downcast::<Reject>() {
            Ok(reject) => return Self::Reject(reject),
            Err(error) => error,
        };
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::Fault(fault),
            Err(error) => error,
        };
        match error.downcast::<AskFailed>() {
            Ok(failed) => Self::AskFailed(failed),
            Err(error) => Self::Unexpected(Fault::from_box(error.into())),
        }
    }
}

/// Returns the text if the error is only a text.
fn words<E: 'static>(slot: &mut Option<E>) -> Option<String> {
    take::<String>(slot)
        .or_else(|| take::<&'static str>(slot).map(str::to_owned))
        .or_else(|| take::<Cow<'static, str>>(slot).map(Cow::into_owned))
}

/// Takes the value if it is of type `T`.
fn take<T: 'static>(slot: &mut dyn Any) -> Option<T> {
    slot.downcast_mut::<Option<T>>().and_then(Option::take)
}

/// The text of an error and of its cause.
#[derive(Debug)]
struct Texts {
    text: String,
    cause: Option<Box<Texts>>,
}

impl Texts {
    fn of(error: &(dyn Error + 'static)) -> Self {
        Self {
            text: error.to_string(),
            cause: error.source().map(|cause| Box::new(Self::of(cause))),
        }
    }
}

impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Texts {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
