//! Scopes that every request requires, and scopes of single tools.

use turnbuckle_auth::server::Guard;

use super::site::Site;

fn scoped(guard: Guard) -> Guard {
    guard
        .scopes(["notes:read"])
        .implies("notes:admin", ["notes:write"])
        .implies("notes:write", ["notes:read"])
}

// rule: A12
// A12: 403 with `insufficient_scope`, all scopes of the operation, and the URL of the metadata.
#[tokio::test]
async fn a_missing_scope_is_named() {
    let site = Site::with(scoped).await;
    let token = site.token().scopes(["other"]).mint();
    let refused = site.call("whoami", &token).await;
    refused.is_refused(403, "error=\"insufficient_scope\"");
    assert!(refused.challenge().contains("scope=\"notes:read\""));
    assert!(
        refused
            .challenge()
            .contains("resource_metadata=\"http://127.0.0.1")
    );
    let token = site.token().scopes(["notes:read"]).mint();
    assert_eq!(site.call("whoami", &token).await.status, 200);
    let refused = site.call("write", &token).await;
    refused.is_refused(403, "error=\"insufficient_scope\"");
    assert!(
        refused
            .challenge()
            .contains("scope=\"notes:read notes:write\"")
    );
    assert_eq!(refused.json()["id"], 1);
    let more = site.token().scopes(["notes:read", "notes:write"]).mint();
    assert_eq!(site.call("write", &more).await.status, 200);
}

// rule: A13
// A13: servers MUST account for scopes that imply others.
#[tokio::test]
async fn a_broader_scope_is_enough() {
    let site = Site::with(scoped).await;
    for scope in ["notes:admin", "notes:write"] {
        let token = site.token().scopes([scope]).mint();
        for tool in ["whoami", "write"] {
            assert_eq!(site.call(tool, &token).await.status, 200, "{scope} {tool}");
        }
    }
    let token = site.token().scopes(["notes:admin"]).mint();
    let caller = site.call("whoami", &token).await.caller();
    assert_eq!(caller["identity"]["granted"][0], "notes:admin");
    assert_eq!(caller["scopes"].as_array().map(Vec::len), Some(3));
}
