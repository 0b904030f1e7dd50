//! `requestState`: the journal, sealed. It travels through the client, and only this server can open
//! it.
//!
//! mrtr: the client may alter the state that it sends back. So the state is encrypted and
//! authenticated, and contains its caller, its request and its expiry; a state that does not match is
//! refused. Replicas that share their [keys](KeyRing) open each other's states.
//!
//! A state can be sent again until it expires. If it must be used only once, remember the
//! [id](Opened::id) of each opened state until the state [expires](Opened::expires), and refuse
//! repetitions.

mod bad_state;
mod binding;
#[cfg_attr(not(feature = "seal"), path = "no_cipher.rs")]
mod cipher;
mod key_ring;
mod sealed_bytes;
mod state;

pub use bad_state::BadState;
pub use binding::{Binding, RequestDigest};
pub use key_ring::{Key, KeyId, KeyRing, MAX_KEYS, MIN_SECRET_BYTES, WeakSecret};
pub use state::{MAX_STATE_BYTES, NONCE_BYTES, Nonce, Opened, StateId};
