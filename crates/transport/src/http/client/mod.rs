//! The client side of HTTP: an [`Agent`] sends requests and reads responses, as a whole or as events.
//!
//! It owns everything that is the same for all requests: shared connections, proxies, trusted
//! certificates, headers of the application, and the [`Authorize`] hook. It does not know the meaning
//! of requests and responses.

mod address;
mod agent;
mod authorize;
mod connector;
mod error;
#[cfg(feature = "tls")]
mod handshake;
mod http1;
mod moved;
mod reply;
mod screen;
mod settings;
mod stream;
#[cfg(feature = "tls")]
mod trust;

pub use address::{Address, AddressError};
pub use agent::{Agent, MAX_CHALLENGES, MAX_HOOK_TIME};
pub use authorize::{Authorize, BoxError, Challenge, Decision, RequestHead, ResponseHead};
pub use error::HttpError;
#[cfg(feature = "tls")]
pub use handshake::TlsHandshake;
pub use reply::{Events, Reply};
pub use screen::AddressNotAllowed;
pub use settings::AgentSettings;

pub use futures_core::future::BoxFuture;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
