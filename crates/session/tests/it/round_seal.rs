//! The sealed journal: it can only be opened with its own binding.

use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Value, json};
use turnbuckle_protocol::{
    InputRequest, RequestParams,
    envelope::{Frame, Message, parse},
};
use turnbuckle_session::round::{
    BadState, Binding, Fingerprint, Journal, Key, KeyRing, MAX_JOURNAL_BYTES, RequestDigest,
    seal::MAX_STATE_BYTES,
};

const EXPIRES: u64 = 1_800_000_000;

fn binding() -> Binding<'static> {
    book().with_caller("alice")
}

fn book() -> Binding<'static> {
    Binding::new(RequestDigest::named("tools/call", "book"))
}

fn ring() -> KeyRing {
    KeyRing::new(Key::new([1; 32]))
}

fn digest(params: &Value) -> RequestDigest {
    digest_of(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

fn digest_of(request: &Value) -> RequestDigest {
    let text = request.to_string();
    let Ok(Frame::One(Message::Request(request))) = parse(text.as_bytes()) else {
        panic!("{text}");
    };
    RequestDigest::of(&request.method, &request.params)
}

/// Any JSON, including floats of any size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_journal() -> impl Strategy<Value = Journal> {
    let entries = || prop::collection::vec((".{0,8}", prop::option::of(any_json())), 0..6);
    (entries(), entries()).prop_map(|(asks, memos)| {
        let question = Fingerprint::of(&InputRequest::ListRoots(RequestParams::default()));
        let mut journal = Journal::new();
        for (key, answer) in asks {
            journal.asked(&key, question).unwrap();
            if let Some(answer) = answer {
                let answer = serde_json::value::to_raw_value(&answer).unwrap();
                journal.record_answer(&key, answer).unwrap();
            }
        }
        for (key, memo) in memos {
            journal.record_memo(&key, &memo).unwrap();
        }
        journal
    })
}

/// A text that begins like a sealed state and continues with noise.
fn noise() -> impl Strategy<Value = String> {
    // In Base64 the version and the key id end after twelve letters.
    let head = ring().seal(&Journal::new(), &binding(), EXPIRES, [9; 24])[..12].to_owned();
    "[A-Za-z0-9_-]{0,300}".prop_map(move |rest| format!("{head}{rest}"))
}

fn text(journal: &Journal) -> String {
    serde_json::to_string(journal).unwrap()
}

proptest! {
    #[test]
    fn any_journal_survives_the_box(journal in any_journal(), nonce: [u8; 24], now in 0..=EXPIRES) {
        prop_assert!(text(&journal).len() <= journal.bytes());
        let state = ring().seal(&journal, &binding(), EXPIRES, nonce);
        prop_assert!(state.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        let opened = ring().open(&state, &binding(), now).unwrap();
        prop_assert_eq!(text(&opened.journal), text(&journal));
        prop_assert_eq!(opened.id.as_bytes(), &nonce);
        prop_assert_eq!(opened.expires, EXPIRES);
    }

    // rule: I4
    #[test]
    fn any_flipped_bit_of_the_text_is_refused(journal in any_journal(), at: Index, bit in 0_u8..7) {
        let mut state = ring().seal(&journal, &binding(), EXPIRES, [9; 24]).into_bytes();
        let at = at.index(state.len());
        state[at] ^= 1 << bit;
        let state = String::from_utf8(state).unwrap();
        prop_assert!(ring().open(&state, &binding(), 0).is_err());
    }

    #[test]
    fn any_cut_or_longer_text_is_refused(journal in any_journal(), at: Index, more in "[A-Za-z0-9_-]{1,9}") {
        let state = ring().seal(&journal, &binding(), EXPIRES, [9; 24]);
        prop_assert!(ring().open(&state[..at.index(state.len())], &binding(), 0).is_err());
        prop_assert!(ring().open(&(state + &more), &binding(), 0).is_err());
    }

    // rule: I4
    #[test]
    fn any_other_caller_is_refused(other in prop::option::of(".{0,8}")) {
        prop_assume!(other.as_deref() != Some("alice"));
        let state = ring().seal(&Journal::new(), &binding(), EXPIRES, [9; 24]);
        let binding = match &other {
            Some(caller) => book().with_caller(caller),
            None => book(),
        };
        let refused = ring().open(&state, &binding, 0);
        prop_assert!(matches!(refused, Err(BadState::OtherCaller)));
    }

    // rule: I4
    #[test]
    fn any_other_request_is_refused(method in "[a-z/]{0,12}", name in ".{0,8}", params in any_json()) {
        let alice = |method: &str, params: &Value| {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            Binding::new(digest_of(&request)).with_caller("alice")
        };
        let params_of = |arguments: &Value| json!({"name": "book", "arguments": arguments});
        let made_for = alice("tools/call", &params_of(&params));
        let state = ring().seal(&Journal::new(), &made_for, EXPIRES, [9; 24]);
        prop_assume!(name != "book");
        for other in [
            alice(&format!("x{method}"), &params_of(&params)),
            alice("tools/call", &json!({"name": name, "arguments": params})),
            alice("tools/call", &params_of(&json!({"other": params}))),
            alice("tools/call", &json!({"name": "book"})),
            binding(),
        ] {
            let refused = ring().open(&state, &other, 0);
            prop_assert!(matches!(refused, Err(BadState::OtherRequest)));
        }
        prop_assert!(ring().open(&state, &made_for, 0).is_ok());
    }

    // rule: I4
    #[test]
    fn any_late_box_is_refused(expires in 0_u64..u64::MAX - 1000, late in 0_u64..1000) {
        let state = ring().seal(&Journal::new(), &binding(), expires, [9; 24]);
        let opened = ring().open(&state, &binding(), expires + late);
        if late > 0 {
            let is_late =
                matches!(opened, Err(BadState::Expired { milliseconds }) if milliseconds == late);
            prop_assert!(is_late);
        } else {
            prop_assert!(opened.is_ok());
        }
    }

    #[test]
    fn no_text_opens_or_panics(state in prop_oneof![".{0,300}", noise()]) {
        prop_assert!(ring().open(&state, &binding(), 0).is_err());
    }

    #[test]
    fn no_text_is_read_as_a_journal_by_accident(text in "\\{\"v\":1,\"[am]\":.{0,40}\\}") {
        if let Ok(journal) = serde_json::from_str::<Journal>(&text) {
            prop_assert!(self::text(&journal).len() <= journal.bytes());
        }
    }

    #[test]
    fn a_retry_has_the_digest_of_its_request(arguments in any_json(), state in ".{0,9}", more in any_json()) {
        let first = json!({"name": "book", "arguments": arguments, "_meta": {"progressToken": 1}});
        let retry = json!({
            "requestState": state, "inputResponses": more, "arguments": arguments,
            "_meta": {"progressToken": 2}, "name": "book",
        });
        prop_assert_eq!(digest(&first), digest(&retry));
        let other = json!({"name": "book", "arguments": [arguments]});
        prop_assert_ne!(digest(&first), digest(&other));
    }
}

#[test]
fn replicas_change_keys_without_losing_a_call() {
    let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
    let behind = KeyRing::new(old.clone()).with_older_key(new.clone());
    let ahead = KeyRing::new(old.clone()).with_key(new);
    let by = |ring: &KeyRing| ring.seal(&Journal::new(), &binding(), EXPIRES, [9; 24]);
    for state in [by(&behind), by(&ahead)] {
        assert!(behind.open(&state, &binding(), 0).is_ok());
        assert!(ahead.open(&state, &binding(), 0).is_ok());
    }
    let mut done = ahead;
    assert!(done.retire(old.id()));
    let refused = done.open(&by(&behind), &binding(), 0);
    assert!(matches!(refused, Err(BadState::UnknownKey(id)) if id == old.id()));
}

#[test]
fn a_client_cannot_tell_why_its_state_was_refused() {
    // mrtr: servers MUST reject state that fails verification.
    let state = ring().seal(&Journal::new(), &binding(), EXPIRES, [9; 24]);
    let cancel = RequestDigest::named("tools/call", "cancel");
    let other_request = Binding::new(cancel).with_caller("alice");
    let other_ring = KeyRing::new(Key::new([2; 32]));
    let refusals = [
        ring().open(&format!("{state}-TAMPERED"), &binding(), 0),
        ring().open("", &binding(), 0),
        ring().open(&"A".repeat(MAX_STATE_BYTES + 1), &binding(), 0),
        ring().open(&state, &binding(), EXPIRES + 1000),
        ring().open(&state, &book().with_caller("mallory"), 0),
        ring().open(&state, &other_request, 0),
        other_ring.open(&state, &binding(), 0),
    ]
    .map(Result::unwrap_err);
    let logged: std::collections::BTreeSet<_> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(logged.len(), refusals.len());
    for refused in &refusals {
        assert_eq!(refused.to_error(), refusals[0].to_error());
        assert_eq!(refused.to_error().code, -32602);
    }
}

#[test]
fn nothing_of_the_journal_shows_through() {
    let mut journal = Journal::new();
    journal.record_memo("pin", "s3cret-s3cret-s3cret").unwrap();
    let (one, two) = ([1; 24], [2; 24]);
    let state = ring().seal(&journal, &binding(), EXPIRES, one);
    assert_ne!(
        state[60..],
        ring().seal(&journal, &binding(), EXPIRES, two)[60..]
    );
    assert!(!state.contains("s3cret") && !state.contains("czNjcmV0"));
}

#[test]
fn a_full_journal_fits_the_longest_state() {
    let mut journal = Journal::new();
    let before = journal.bytes();
    journal.record_memo("a", "").unwrap();
    let beside_the_text = journal.bytes() - before;
    let left = MAX_JOURNAL_BYTES - journal.bytes() - beside_the_text;
    let refused = journal.record_memo("m", &"x".repeat(left + 1)).unwrap_err();
    assert!(refused.to_string().contains("`m`"), "{refused}");
    journal.record_memo("m", &"x".repeat(left)).unwrap();
    assert_eq!(journal.bytes(), MAX_JOURNAL_BYTES);
    let state = ring().seal(&journal, &binding(), EXPIRES, [9; 24]);
    assert!(state.len() <= MAX_STATE_BYTES);
    assert!(MAX_STATE_BYTES - state.len() < 200);
    let opened = ring().open(&state, &binding(), 0).unwrap();
    assert_eq!(opened.journal.bytes(), MAX_JOURNAL_BYTES);
}
