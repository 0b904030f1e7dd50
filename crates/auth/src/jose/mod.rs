//! Keys, signatures and tokens: the parts of JOSE that authorization needs.
//!
//! Only asymmetric signatures are here. A token that says `none`, or that is signed with a secret
//! which both ends share, names no [`Algorithm`], so no code can be talked into accepting it.

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
