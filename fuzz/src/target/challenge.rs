//! `WWW-Authenticate`: parsing always ends, whatever a server sends, and a valid challenge is
//! understood.

use turnbuckle_auth::client::fuzzing::read_challenge;

use super::Target;

pub const TARGET: Target = Target {
    name: "challenge",
    run,
    seeds: &[
        br#"Bearer resource_metadata="https://a/b", scope="x y", error="invalid_token""#,
        br#"Basic QWxhZGRpbg==, DPoP algs="ES256", Bearer"#,
        br#"Negotiate, Bearer error=insufficient_scope , scope="a\"b""#,
    ],
    words: &[
        "Bearer ",
        "DPoP ",
        "resource_metadata=\"",
        "scope=\"",
        "error=",
        ", ",
        "\\\"",
        "==",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Ok(header) = str::from_utf8(input) else {
        return;
    };
    let (metadata, error) = read_challenge(header);
    for said in [metadata, error].into_iter().flatten() {
        assert!(
            said.len() <= header.len(),
            "nothing is said that the header has not"
        );
    }
    // A challenge in the next header is still read.
    let (metadata, _) = read_challenge("Bearer resource_metadata=\"https://a/b\"");
    assert_eq!(metadata.as_deref(), Some("https://a/b"));
}
