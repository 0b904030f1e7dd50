//! Extensions: capabilities, methods and notifications beyond the core, as packages.
//!
//! An [`Extension`] often comes from a crate of its own and is given to
//! [`Server::extension`](crate::Server::extension). Nothing of it is there before that. Its
//! methods are plain async functions of extractors, like tools; their types are those of
//! [`Method`](turnbuckle_protocol::method::Method).
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use turnbuckle_protocol::method::Method;
//! use turnbuckle_server::{Extension, ExtensionMethod, Params, Reject, Server};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Day { day: String }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Weather { celsius: f64 }
//!
//! struct AlmanacRead;
//!
//! impl Method for AlmanacRead {
//!     const NAME: &'static str = "almanac/read";
//!     type Params = Day;
//!     type Result = Weather;
//!     type Outcome = Weather;
//! }
//!
//! async fn read(Params(asked): Params<Day>) -> Result<Weather, Reject> {
//!     match asked.day.as_str() {
//!         "1816-07-04" => Ok(Weather { celsius: 9.0 }),
//!         day => Err(Reject::invalid_params(format!("nothing is known of {day}"))),
//!     }
//! }
//!
//! let almanac = Extension::new("com.example/almanac")
//!     .setting("since", 1800)
//!     .method(ExtensionMethod::new::<AlmanacRead, _>(read));
//! let server = Server::new("weather", "1.0.0").extension(almanac);
//! ```
//!
//! Who may call a method is settled with each request: unless it is [open](ExtensionMethod::open),
//! only clients that declare the extension may, and others are told what is missing. What a client
//! declared is there for every handler, tools included, by [`Declared`](crate::Declared).

mod builder;
mod method;
mod notice;
mod registry;

pub use builder::Extension;
pub use method::ExtensionMethod;
pub(crate) use method::MethodEntry;
pub(crate) use notice::Notice;
pub(crate) use registry::Registry;
