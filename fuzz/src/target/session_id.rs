//! Sealed session ids, which replicas share, and the parts of handshakes that are kept in a store: only a value
//! that was sealed with the key opens, and it has the content that was sealed. After any change of a byte, with
//! another key, or for the other purpose it does not open.

use std::sync::LazyLock;

use turnbuckle_server::fuzzing::{SealedSession, open_part, open_session, seal_session};
use turnbuckle_session::round::{Key, KeyRing, seal::NONCE_BYTES};

use super::Target;

pub const TARGET: Target = Target {
    name: "session_id",
    run,
    seeds: &[
        // The id with a byte changed, and with bytes appended.
        b"\x01\x10\x02",
        b"\x01\xff\x80A",
        // The part with a byte changed, and with bytes appended.
        b"\x02\x10\x02",
        b"\x02\x30\x00\x00",
        // The first bytes of the id, and of the part.
        b"\x03\x40",
        b"\x04\x40",
        // A session of another client, whose id may be too long for its handshake.
        b"\x05ada",
        b"\x05aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    words: &["A", "_", "-", "=", "+", "/", "AAAA"],
    is_planted: false,
};

const NONCES: [[u8; NONCE_BYTES]; 2] = [[3; NONCE_BYTES], [4; NONCE_BYTES]];

static KEYS: LazyLock<KeyRing> = LazyLock::new(|| KeyRing::new(Key::new([7; 32])));
static OTHER_KEYS: LazyLock<KeyRing> = LazyLock::new(|| KeyRing::new(Key::new([8; 32])));
/// A session whose id contains its whole handshake, and one with a part that is stored elsewhere.
static SHORT: LazyLock<SealedSession> = LazyLock::new(|| seal_session(&KEYS, "ada", "c", NONCES));
static LONG: LazyLock<SealedSession> =
    LazyLock::new(|| seal_session(&KEYS, "ada", &"c".repeat(600), NONCES));

fn run(input: &[u8]) {
    let id = SHORT.id.as_bytes();
    let part = LONG.part.as_deref().expect("it is too long for an id");
    match input {
        [1, at, change, rest @ ..] => check_id(&changed(id, *at, *change, rest)),
        [2, at, change, rest @ ..] => check_part(&changed(part, *at, *change, rest)),
        [3, length, ..] => check_id(&id[..usize::from(*length).min(id.len())]),
        [4, length, ..] => check_part(&part[..usize::from(*length).min(part.len())]),
        [5, client @ ..] => check_round_trip(client),
        other => {
            check_id(other);
            check_part(other);
        }
    }
}

fn changed(sealed: &[u8], at: u8, change: u8, rest: &[u8]) -> Vec<u8> {
    let mut changed = sealed.to_vec();
    let at = usize::from(at) % changed.len();
    changed[at] ^= change;
    changed.extend_from_slice(rest);
    changed
}

/// Asserts that only a sealed id opens. Each id has one text, so no other text may open as the same id.
fn check_id(id: &[u8]) {
    let Ok(id) = str::from_utf8(id) else {
        return;
    };
    let opened = open_session(&KEYS, id);
    let was_sealed = [&SHORT.id, &LONG.id].into_iter().any(|sealed| sealed == id);
    assert_eq!(opened.is_some(), was_sealed, "only what was sealed opens");
    assert!(
        open_session(&OTHER_KEYS, id).is_none(),
        "another key opens nothing"
    );
    assert!(
        open_part(&KEYS, id.as_bytes()).is_none(),
        "an id is not a part"
    );
}

fn check_part(part: &[u8]) {
    let opened = open_part(&KEYS, part);
    let was_sealed = LONG.part.as_deref() == Some(part);
    assert_eq!(opened.is_some(), was_sealed, "only what was sealed opens");
    assert!(
        open_part(&OTHER_KEYS, part).is_none(),
        "another key opens nothing"
    );
}

/// Asserts that a sealed value opens with its content, whatever the client's name is, and that an id is short enough
/// for a header.
fn check_round_trip(client: &[u8]) {
    let client = String::from_utf8_lossy(client);
    let sealed = seal_session(&KEYS, "eve", &client, NONCES);
    assert!(sealed.id.len() <= 512, "an id fits into a header");
    assert!(
        sealed.id.bytes().all(|byte| byte.is_ascii_graphic()),
        "an id is visible ASCII"
    );
    let (key, handshake) = open_session(&KEYS, &sealed.id).expect("what was sealed opens");
    assert_eq!(key, sealed.key);
    assert_eq!(handshake["r"], "2025-11-25");
    assert_eq!(handshake["t"], 1000);
    let rest = match &sealed.part {
        Some(part) => {
            assert!(handshake.get("c").is_none(), "the rest is in one place");
            open_part(&KEYS, part).expect("the part opens")
        }
        None => handshake["c"].clone(),
    };
    assert_eq!(rest["u"], "eve");
    assert_eq!(rest["i"]["name"], *client);
}
