//! Extractors: the types that parameters of handlers can have.
//!
//! An extractor takes its value from the [`Call`], and describes what it needs from the client and
//! the server. So one trait provides the value and the schema.

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

/// A type that can be a parameter of a handler. It takes its value from the call.
///
/// Implementations: [`Args`], [`RawArgs`], [`State`], [`Caller`](crate::Caller), [`Ask`],
/// [`Progress`], [`Log`](crate::Log), [`Cancelled`], [`Ping`], [`Catalog`](crate::Catalog),
/// [`Changes`](crate::Changes), and `Option` of each except `Args`. You can implement it for your
/// own types:
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
/// Extraction is synchronous, so that a handler borrows nothing from the message when it first
/// waits. Work that must be awaited (a database, a token check) belongs in a [layer](crate::Layer),
/// which attaches its result to the call with [`Call::insert`] for the extractor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler",
    label = "does not implement `Extract`",
    note = "arguments go into `Args<T>`, or are plain parameters of a function with `#[tool]`"
)]
pub trait Extract: Sized + Send {
    /// Takes the value from the call. It runs before the handler.
    ///
    /// # Errors
    /// A [`Failure`] ends the call before the handler runs.
    fn extract(call: &Call<'_>) -> Result<Self, Failure>;

    /// Takes the value from the call, for a handler with a parameter `Option<Self>`. Returns `None`
    /// if there is no value. By default every failure of [`extract`](Self::extract) becomes `None`.
    ///
    /// # Errors
    /// A [`Failure`] ends the call. Return it for mistakes of the client that must not be ignored.
    fn extract_if_there(call: &Call<'_>) -> Result<Option<Self>, Failure> {
        Ok(Self::extract(call).ok())
    }

    /// Describes what the handler needs, when it is registered: its schema, its states and its
    /// capabilities. By default it describes nothing.
    fn describe(_description: &mut Description) {}
}

impl<T: Extract> Extract for Option<T> {
    /// Returns `None` if the inner extractor has no value.
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        T::extract_if_there(call)
    }

    /// Adds the description of the inner extractor, without its requirements.
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
