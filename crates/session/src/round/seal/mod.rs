//! `requestState`: the journal in a box that travels through the client and that only this server
//! opens.
//!
//! mrtr: what comes back is the client's word and an attacker's chance. So the box is encrypted
//! and authenticated, and it says for whom it was made, for which request and until when; whatever
//! does not match is refused. Replicas that share their [keys](KeyRing) open each other's boxes.
//!
//! A box can be presented again until it expires. Where that must not be, remember the
//! [id](Opened::id) of each box that was opened until the box [expires](Opened::expires), and
//! refuse those that come twice.

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
