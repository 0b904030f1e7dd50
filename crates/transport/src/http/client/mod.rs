//! A client's side of HTTP: an [`Agent`] sends requests and reads answers, as a whole or as events.
//!
//! It owns what is the same for every request: connections that are kept and shared, proxies, trust
//! in certificates, headers of the application, and the [`Authorize`] hook. What a request or an
//! answer means is not its business.

mod address;
mod agent;
mod authorize;
mod connector;
mod error;
mod moved;
mod reply;
mod screen;
mod settings;
#[cfg(feature = "tls")]
mod shown;
mod stream;
#[cfg(feature = "tls")]
mod trust;

pub use address::{Address, AddressError};
pub use agent::{Agent, MAX_CHALLENGES, MAX_HOOK_TIME};
pub use authorize::{Arrived, Authorize, BoxError, Challenge, Decision, Departing};
pub use error::HttpError;
pub use reply::{Events, Reply};
pub use screen::ScreenedOut;
pub use settings::AgentSettings;
#[cfg(feature = "tls")]
pub use shown::Shown;

pub use futures_core::future::BoxFuture;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
