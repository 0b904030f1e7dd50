//! Data that replicas of earlier versions encrypted. Newer replicas must be able to read it,
//! because both run side by side during an upgrade.
//!
//! The samples were taken from two processes of version 0.1.0 with this secret. Do not make them
//! again: add new ones when a format changes.

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use turnbuckle_protocol::Revision;
use turnbuckle_session::round::KeyRing;

use super::{
    Message, OpenedId, Outcome,
    letter::{Content, Letter},
    replicas::LETTER,
};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

/// The id of a session.
const SESSION_ID: &str = "Aa8UPgwynCMjWlr2oUsoow-9DSl9fK_Nin-Xm8LRjQBP_yvqedQplPnDl1u7AhXX-282raYA93GzW8PpXphRdG1K08OZwucQWxjX4c0xFJ1Yl7eRf9pfWa1bNF21AvCSRMZ8WpSwsXblYsMBccOoiGuSTZg_E0dLQvlJO7A2p-XFI-EXr4s4YO1YKVsClza8W4GSOtC67mAawbb6";

/// One replica told all others that `logging/setLevel` was called in that session.
const NOTED: &str = "Aa8UPgwynCMjqb5jn2IMn3VB++f0MKf1BS56pEuBNDIQyAIgeEp9RWpn8f9/amVKEivR2gVtkc3UmubZpgAmEiMth1e7UlNFeCD4N0yjkQmZMI5AQcu4lqe1/0v1IVPVNCiuLN1dkLq8r3mLZdFOgZrKoxKZlbyFRZOoihG1ikGpafRm+KfK6UD8/wJZxHHZztbV0yxzYO7AOSgrMOHdo8grQREzxtNvEPZkT5Fa/UVl1lPQtwnT07RZSnTvU9QlQQLh26W35ipRdLYsZdxF8zzMnvTSA4gB/1DAzRergGVboOhm1i0XS9fmW9DLqKK2kyf4pQeLIn0VGRSeOrIgeVc5eRrWO99EHdJvf9ad5T0h8yZzb5NuGhN2y8fY/swNkiYjTXGX+3QzQBn/2pNhQw8Hba8Ugp4tsvFVCXXOsRZI34XzYzzlBNiaHBiusMZ08mVKE7lOWHy/kEKY53IP/kGhqviBBWvNGo+0g0AXgEVjow==";

/// The answer of another replica.
const DONE: &str = "Aa8UPgwynCMjhl/+fWztRD/1QmNgkUQ30sCLM+c7+6FiiNQ5OpPMzafyryqclPE5kkjg+drowgxHeI6QcJ2Bh54oPQ8rCf8U/M9QPHZpYyo7mHRshog5sZkNRxMJwcFxYuqWhvbP5ARIt7D1f73FOkAHs7vsZd38CQ9tuKHszwT1JpiigGs0BTxWftQBcjZqxKGtVjX4";

fn keys() -> KeyRing {
    KeyRing::from_secret(SECRET).expect("it is long enough")
}

fn letter(sample: &str) -> Letter {
    let mut sealed = BASE64_STANDARD.decode(sample).expect("base64");
    let opened = keys().open_bytes(LETTER, &mut sealed);
    let (text, _) = opened.expect("it was sealed with the secret");
    serde_json::from_slice(&text).expect("it can be read")
}

#[test]
fn sessions_of_version_0_1_are_served() {
    let opened = OpenedId::open(&keys(), SESSION_ID).expect("it opens");
    assert_eq!(opened.key, "Wlr2oUsoow-9DSl9fK_Nin-Xm8LRjQBP");
    assert_eq!(opened.handshake.revision, Revision::LATEST_LEGACY);
    let rest = opened.handshake.rest.expect("it is short");
    assert_eq!(rest.caller, None);
    assert_eq!(rest.info.expect("it said its name").name, "sample");
    assert!(rest.capabilities.elicitation.is_some());
}

#[test]
fn messages_of_version_0_1_are_understood() {
    let noted = letter(NOTED);
    let from = noted.from().expect("a replica");
    assert!(noted.call.is_some());
    let Content::Message(Message::Noted { session }) = noted.content else {
        panic!("{:?}", noted.content)
    };
    assert_eq!(session, SESSION_ID);
    let done = letter(DONE);
    assert_ne!(done.from(), Some(from));
    assert!(matches!(done.content, Content::Answer(Outcome::Done)));
}

#[test]
fn what_another_version_has_sealed_is_refused() {
    let mut id = BASE64_URL_SAFE_NO_PAD.decode(SESSION_ID).expect("base64");
    id[0] += 1;
    let id = BASE64_URL_SAFE_NO_PAD.encode(id);
    assert!(OpenedId::open(&keys(), &id).is_none());
    let mut sealed = BASE64_STANDARD.decode(NOTED).expect("base64");
    sealed[0] += 1;
    assert!(keys().open_bytes(LETTER, &mut sealed).is_none());
}
