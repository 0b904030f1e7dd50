//! Keys, signatures and tokens: the parts of JOSE that authorization needs.
//!
//! Only asymmetric signatures are supported. [`Algorithm`] has no value for `none` or for
//! signatures with a shared secret, so such tokens cannot be accepted by mistake.

mod algorithm;
pub(crate) mod base64url;
mod digest;
mod jwk;
mod jws;
mod signing_key;

pub use algorithm::Algorithm;
pub use digest::digest;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) use digest::is_same;
#[cfg(feature = "server")]
pub(crate) use digest::sha256;
pub use jwk::{BadKey, Jwk, JwkSet};
pub use jws::{BadToken, Header, Jws};
pub use signing_key::{KeyError, SigningKey};
