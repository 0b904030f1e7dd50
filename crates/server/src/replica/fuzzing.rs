//! Entry points for the fuzz targets of this repository; not for programs.

use serde_json::Value;
use turnbuckle_protocol::{ClientCapabilities, Implementation, Revision, SubscriptionFilter};
use turnbuckle_session::round::{KeyRing, seal::Nonce};

use super::{Handshake, HandshakeRest, OpenedId};

/// An encrypted session id, the key of its session in stores, and the part of its handshake that is
/// kept in a store.
#[derive(Clone, Debug)]
pub struct SealedSession {
    /// The id.
    pub id: String,
    /// The key of the session in stores.
    pub key: String,
    /// The part of the handshake that was too large for the id, if any.
    pub part: Option<Vec<u8>>,
}

/// Encrypts the handshake of a client with this name.
///
/// # Panics
/// If encryption fails, which these values cannot cause.
pub fn seal_session(
    keys: &KeyRing,
    caller: &str,
    client: &str,
    nonces: [Nonce; 2],
) -> SealedSession {
    let rest = HandshakeRest {
        caller: Some(caller.to_owned()),
        info: Some(Implementation::new(client, "1")),
        capabilities: ClientCapabilities::default(),
    };
    let promised = SubscriptionFilter::new().with_tools();
    let handshake = Handshake::new(Revision::LATEST_LEGACY, 1000, &promised, rest);
    let sealed = handshake.seal(keys, nonces).expect("there is a cipher");
    SealedSession {
        id: sealed.id,
        key: sealed.key,
        part: sealed.part,
    }
}

/// Decrypts a session id, and returns the key of its session and its handshake as JSON. `None` if
/// the id is invalid.
pub fn open_session(keys: &KeyRing, id: &str) -> Option<(String, Value)> {
    let opened = OpenedId::open(keys, id)?;
    Some((opened.key, serde_json::to_value(opened.handshake).ok()?))
}

/// Decrypts the part of a handshake that was kept in a store, and returns it as JSON. `None` if it
/// is invalid.
pub fn open_part(keys: &KeyRing, part: &[u8]) -> Option<Value> {
    serde_json::to_value(HandshakeRest::open(keys, part.to_vec())?).ok()
}
