//! The lifecycle of a legacy session on the server's side.

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_session::{
    Phase, ServerLifecycle,
    lifecycle::{Cause, NotAdmitted, Reinitialize},
};

use Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

fn fresh() -> ServerLifecycle<&'static str> {
    ServerLifecycle::new()
}

fn initializing() -> ServerLifecycle<&'static str> {
    let mut session = fresh();
    session
        .initialize("2025-06-18", Revision::ALL, "client")
        .unwrap();
    session
}

fn ready() -> ServerLifecycle<&'static str> {
    let mut session = initializing();
    session.initialized();
    session
}

#[test]
fn the_phases_follow_the_handshake() {
    let mut session = fresh();
    assert_eq!((session.revision(), session.client()), (None, None));
    assert_eq!(
        session.initialize("2025-06-18", Revision::ALL, "client"),
        Ok(V2025_06_18)
    );
    let (revision, client) = (V2025_06_18, "client");
    assert_eq!(*session.phase(), Phase::Initializing { revision, client });
    session.initialized();
    assert_eq!(*session.phase(), Phase::Ready { revision, client });
    assert_eq!(
        (session.revision(), session.client()),
        (Some(revision), Some(&client))
    );
}

#[test]
fn an_unknown_version_is_answered_with_the_newest_legacy_one() {
    for requested in ["2026-07-28", "2031-01-01", "nonsense"] {
        let mut session = fresh();
        assert_eq!(
            session.initialize(requested, Revision::ALL, ""),
            Ok(V2025_11_25)
        );
        assert_eq!(session.revision(), Some(V2025_11_25));
    }
}

#[test]
fn before_the_handshake_only_ping_is_served() {
    let session = fresh();
    assert_eq!(session.admit("ping"), Ok(None));
    for method in ["tools/list", "tools/call", "resources/read", "no/such", ""] {
        let refusal = session.admit(method).unwrap_err();
        assert_eq!((refusal.code(), refusal.data()), (-32600, None), "{method}");
        let text = refusal.to_string();
        assert!(
            text.contains(method) && text.contains("send `initialize` first"),
            "{text}"
        );
        assert!(
            text.contains("io.modelcontextprotocol/protocolVersion"),
            "{text}"
        );
    }
}

#[test]
fn a_refusal_does_not_repeat_a_long_method() {
    let refusal = fresh().admit(&"é".repeat(100_000)).unwrap_err();
    assert!(refusal.to_string().len() < 500);
}

#[test]
fn a_client_that_never_says_initialized_is_served_all_the_same() {
    for session in [initializing(), ready()] {
        for method in ["ping", "tools/list", "tools/call"] {
            assert_eq!(session.admit(method), Ok(Some(V2025_06_18)));
        }
    }
}

#[test]
fn initialized_without_or_after_the_handshake_means_nothing() {
    let mut session = fresh();
    session.initialized();
    assert_eq!(*session.phase(), Phase::Fresh);
    let mut session = ready();
    session.initialized();
    assert_eq!(session, ready());
}

#[test]
fn a_second_initialize_is_refused_and_changes_nothing() {
    for mut session in [initializing(), ready()] {
        let before = session.clone();
        let refusal = session
            .initialize("2025-11-25", Revision::ALL, "other")
            .unwrap_err();
        assert_eq!(
            refusal,
            NotAdmitted::AlreadyInitialized {
                revision: V2025_06_18
            }
        );
        assert_eq!(refusal.code(), -32600);
        assert_eq!(session, before);
    }
}

#[test]
fn a_second_initialize_starts_over_where_that_is_the_policy() {
    let mut session = ready().with_reinitialize(Reinitialize::Replace);
    assert_eq!(
        session.initialize("2025-11-25", Revision::ALL, "other"),
        Ok(V2025_11_25)
    );
    let (revision, client) = (V2025_11_25, "other");
    assert_eq!(*session.phase(), Phase::Initializing { revision, client });
}

// rule: M10
#[test]
fn a_server_without_handshakes_names_what_it_speaks() {
    // versioning: a modern-only server SHOULD list its versions when it refuses `initialize`.
    let mut session = fresh();
    let refusal = session
        .initialize("2025-11-25", &[V2026_07_28], "client")
        .unwrap_err();
    assert_eq!(refusal.code(), -32022);
    let data = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
    assert_eq!(refusal.data(), Some(data));
    assert!(refusal.to_string().contains("2026-07-28"));
    assert_eq!(*session.phase(), Phase::Fresh);
}

// rule: V4
#[test]
fn what_the_server_may_send_depends_on_the_phase() {
    // lifecycle: before `initialized` the server SHOULD send only pings and logging.
    use Cause::{Exchange, Unprompted};
    let cases = [
        // method, cause, fresh, initializing, ready
        ("ping", Unprompted, [false, true, true]),
        ("notifications/message", Unprompted, [false, true, true]),
        ("roots/list", Unprompted, [false, false, true]),
        ("sampling/createMessage", Unprompted, [false, false, true]),
        (
            "notifications/tools/list_changed",
            Unprompted,
            [false, false, true],
        ),
        ("notifications/progress", Exchange, [false, true, true]),
        ("elicitation/create", Exchange, [false, true, true]),
    ];
    for (method, cause, expected) in cases {
        let phases = [fresh(), initializing(), ready()];
        let allowed = phases.map(|session| session.may_send(method, cause));
        assert_eq!(allowed, expected, "{method} {cause:?}");
    }
}

#[test]
fn a_session_can_be_stored_and_taken_up_elsewhere() {
    let mut session = ServerLifecycle::new();
    session
        .initialize("2025-06-18", Revision::ALL, "client".to_owned())
        .unwrap();
    let stored = serde_json::to_string(&session).unwrap();
    let mut elsewhere: ServerLifecycle<String> = serde_json::from_str(&stored).unwrap();
    assert_eq!(elsewhere, session);
    elsewhere.initialized();
    let stored = serde_json::to_value(&elsewhere).unwrap();
    let ready = json!({ "ready": { "revision": "2025-06-18", "client": "client" } });
    assert_eq!(stored, json!({ "phase": ready, "reinitialize": "refuse" }));
}
