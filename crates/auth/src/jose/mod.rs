//! Keys, signatures and tokens: the parts of JOSE that authorization needs.

pub(crate) mod base64url;
mod signing_key;

pub use signing_key::{KeyError, SigningKey};
