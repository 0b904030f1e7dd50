//! Tokens and keys: only the token that was signed is accepted.

use std::sync::LazyLock;

use serde_json::{Value, json};
use turnbuckle_auth::jose::{Algorithm, Jwk, JwkSet, Jws, SigningKey};

use super::Target;

pub const TARGET: Target = Target {
    name: "jose",
    run,
    seeds: &[
        br#"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"k","use":"sig","alg":"ES256"}]}"#,
        br#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
        br#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
        b"eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
        // Takes the token that was signed here, with one byte changed.
        b"\x01\x20\x01",
        b"\x01\x50\x40",
    ],
    words: &["\"kty\":\"EC\"", "\"alg\":\"none\"", "\"crv\":\"P-384\"", "\"use\":\"enc\"", "\"key_ops\":[\"verify\"]", "eyJhbGciOiJub25lIn0", ".", "=", "e30"],
    is_planted: false,
};

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate().expect("a key"));
static TOKEN: LazyLock<String> =
    LazyLock::new(|| KEY.sign("JWT", &json!({"sub": "ada"})).expect("a token"));

const ALLOWED: &[Algorithm] = &[Algorithm::Es256, Algorithm::Rs256, Algorithm::EdDsa];

fn run(input: &[u8]) {
    if let [1, at, change, rest @ ..] = input {
        let mut token = TOKEN.clone().into_bytes();
        let at = usize::from(*at) % token.len();
        token[at] ^= change;
        token.extend_from_slice(rest);
        return verify(&token);
    }
    verify(input);
    if let Ok(json) = serde_json::from_slice::<Value>(input) {
        if let Ok(key) = Jwk::parse(&json) {
            let again = Jwk::parse(&key.to_json()).expect("a key that was read can be written");
            assert_eq!(key.thumbprint(), again.thumbprint());
        }
        let _ = JwkSet::parse(&json);
    }
}

fn verify(token: &[u8]) {
    let Ok(token) = str::from_utf8(token) else {
        return;
    };
    let Ok(parsed) = Jws::parse(token) else {
        return;
    };
    if parsed.verify_with(&KEY.public_key(), ALLOWED).is_ok() {
        assert_eq!(token, *TOKEN, "only the token that was signed is accepted");
    }
}
