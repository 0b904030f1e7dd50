//! Extractors: the types that parameters of handlers can have.
//!
//! An extractor takes its value from the [`Call`] and describes what it needs of the caller, so that
//! one trait gives the value and the schema.

mod args;
mod ask;
mod background;
mod call_meta;
mod cancelled;
mod changes;
mod declared;
mod detach;
#[cfg(feature = "http")]
mod http_request;
mod identity;
mod named;
mod notify;
mod params;
mod ping;
mod progress;
mod state;
mod trace;

pub use args::{Args, RawArgs};
pub use ask::Ask;
pub use background::Background;
pub use call_meta::CallMeta;
pub use cancelled::{CancelHandle, Cancelled};
pub use declared::Declared;
pub use detach::Detach;
#[cfg(feature = "http")]
pub use http_request::{Headers, HttpExtension, PeerAddress};
pub use identity::Uri;
pub use named::{AnyPatterns, Named, NamedArgs, Plain, PlainPatterns, TypeOf};
pub use notify::Notify;
pub use params::Params;
pub use ping::{Ping, PingError};
pub use progress::{Progress, ProgressRecord, ProgressReport, Step};
pub use state::State;

use super::description::Description;
use crate::{Call, Failure};

/// A parameter of a handler: taken from the call, and described to the caller.
///
/// Implementations: [`Args`], [`RawArgs`], [`State`], [`Caller`](crate::Caller), [`Ask`],
/// [`Progress`], [`Log`](crate::Log), [`Cancelled`], [`Ping`], [`Catalog`](crate::Catalog),
/// [`Changes`](crate::Changes), and `Option` of each but `Args`. Implement it for your own:
///
/// ```
/// use turnbuckle_server::{Call, Extract, Failure, Reject};
///
/// struct Tenant(String);
///
/// impl Extract for Tenant {
///     fn extract(call: &Call<'_>) -> Result<Self, Failure> {
///         let id = call.caller().id().ok_or_else(|| Reject::invalid_request("log in first"))?;
///         Ok(Self(id.to_owned()))
///     }
/// }
/// ```
///
/// Extraction is synchronous, so that a handler borrows nothing from the message by the time it
/// first waits. What must be awaited (a database, a token check) belongs in a
/// [layer](crate::Layer), which attaches its result to the call with [`Call::insert`] for the
/// extractor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler",
    label = "does not implement `Extract`",
    note = "arguments go into `Args<T>`, or are plain parameters of a function with `#[tool]`"
)]
pub trait Extract: Sized + Send {
    /// Takes the value from the call.
    ///
    /// # Errors
    /// A [`Failure`] ends the call before the handler runs.
    fn extract(call: &Call<'_>) -> Result<Self, Failure>;

    /// Takes the value from the call for a handler that can do without it: `Option<Self>`.
    ///
    /// # Errors
    /// A [`Failure`] ends the call also here: for what the caller sent and must not be passed over.
    fn extract_if_there(call: &Call<'_>) -> Result<Option<Self>, Failure> {
        Ok(Self::extract(call).ok())
    }

    /// Describes what the handler needs, when it is registered: its schema, its states and its
    /// capabilities. The default describes nothing.
    fn describe(_description: &mut Description) {}
}

impl<T: Extract> Extract for Option<T> {
    /// `None` where the inner extractor has nothing to give.
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        T::extract_if_there(call)
    }

    /// Describes what the inner extractor does, without what it needs.
    fn describe(description: &mut Description) {
        let mut inner = Description::default();
        T::describe(&mut inner);
        description.add_optional(inner);
    }
}

impl Extract for crate::Caller {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(call.caller().clone())
    }
}
