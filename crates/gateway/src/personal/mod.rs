//! Servers that each caller reaches with its own credentials: the caller signs in, or its token is
//! exchanged.

mod access;
mod callers;
mod look_ups;
mod relay;
mod sign_in;

pub use access::{CallerAccess, SignIn, SignInState};

pub(crate) use callers::{Callers, CallersDirectory, PersonalServer};
pub(crate) use relay::PersonalRelay;
pub(crate) use sign_in::KEY;
