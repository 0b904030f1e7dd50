//! `requestState`: a sealed state opens only for the caller and the request that it was sealed for, and after any
//! change of a byte it does not open.

use std::sync::LazyLock;

use turnbuckle_session::round::{Binding, Journal, KeyRing, RequestDigest, seal::NONCE_BYTES};

use super::Target;

pub const TARGET: Target = Target {
    name: "request_state",
    run,
    seeds: &[
        b"\x00\x00",
        b"\x01\x10\x02",
        b"\x01\xff\x80A",
        b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    words: &["A", "_", "-", "=", "AAAA"],
    is_planted: false,
};

static KEYS: LazyLock<KeyRing> =
    LazyLock::new(|| KeyRing::from_secret(&[7; 32]).expect("a secret of 32 bytes"));
static SEALED: LazyLock<String> = LazyLock::new(|| {
    let mut journal = Journal::default();
    journal.record_memo("m", &"kept").expect("a memo");
    KEYS.seal(&journal, &binding("ada"), 1_000, [3; NONCE_BYTES])
});

fn binding(caller: &'static str) -> Binding<'static> {
    Binding::new(RequestDigest::named("tools/call", "x")).with_caller(caller)
}

fn run(input: &[u8]) {
    let state = match input {
        [1, at, change, rest @ ..] => {
            let mut state = SEALED.clone().into_bytes();
            let at = usize::from(*at) % state.len();
            state[at] ^= change;
            state.extend_from_slice(rest);
            state
        }
        other => other.to_vec(),
    };
    let Ok(state) = str::from_utf8(&state) else {
        return;
    };
    let opened = KEYS.open(state, &binding("ada"), 0);
    assert_eq!(
        opened.is_ok(),
        state == *SEALED,
        "only what was sealed opens"
    );
    assert!(
        KEYS.open(state, &binding("eve"), 0).is_err(),
        "another caller opens nothing"
    );
    assert!(
        KEYS.open(state, &binding("ada"), 2_000).is_err(),
        "what expired does not open"
    );
}
