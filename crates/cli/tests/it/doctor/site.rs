//! Broken servers at URLs.

use super::*;

#[test]
fn a_careless_server_on_this_machine() {
    let site = Site::broken("careless", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.errors_are(
        4,
        &[
            "headers.legacy-version",
            "http.content-type",
            "origin.foreign",
            "session.undead",
        ],
    );
    for id in [
        "http.bad-json",
        "http.notification",
        "origin.host",
        "session.guessable",
        "session.missing",
        "session.unknown",
    ] {
        diagnosis.warns_of(id);
    }
}

#[test]
fn a_modern_server_that_looks_at_no_header() {
    let site = Site::broken("modern", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.errors_are(
        4,
        &[
            "discover.meta",
            "discover.unknown-version",
            "headers.method-mismatch",
            "headers.method-missing",
            "headers.name-mismatch",
            "headers.version-mismatch",
            "http.unknown-method",
            "origin.foreign",
        ],
    );
    diagnosis.warns_of("headers.version-missing");
    diagnosis.warns_of("discover.identity");
}

#[test]
fn authorization_that_leads_nowhere() {
    let site = Site::broken("auth", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.errors_are(
        5,
        &[
            "auth.endpoints",
            "auth.https",
            "auth.issuer",
            "auth.needed",
            "auth.pkce",
            "auth.resource",
        ],
    );
    for id in ["auth.challenge", "auth.offline-access", "auth.registration"] {
        diagnosis.warns_of(id);
    }
}

#[test]
fn a_server_that_is_locked_without_a_word() {
    let site = Site::broken("locked", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.errors_are(5, &["auth.needed", "auth.resource-metadata"]);
    diagnosis.has_seen("auth.resource-metadata", "oauth-protected-resource/mcp");
}

/// The endpoint has another path than the given one, and is found.
#[test]
fn a_page_where_a_server_was_expected() {
    let site = Site::broken("page", &[]);
    let diagnosis = site.at("http", "/", &[]);
    diagnosis.errors_are(4, &["http.page"]);
    diagnosis.has_seen("http.page", "there is an endpoint at");
    diagnosis.has_seen("http.page", "/mcp");
}

#[test]
fn a_path_without_a_server() {
    let site = demo();
    let diagnosis = site.at("http", "/nowhere", &[]);
    diagnosis.errors_are(4, &["http.no-endpoint"]);
    diagnosis.has_seen("http.no-endpoint", "/mcp");
}

#[test]
fn a_backend_that_is_down() {
    let site = Site::broken("breaks", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.errors_are(4, &["http.server-error"]);
    diagnosis.has_seen("http.server-error", "upstream connect error");
}

#[test]
fn a_server_that_moved() {
    let site = Site::broken("moved", &[]);
    let diagnosis = site.doctor(&[]);
    diagnosis.warns_of("http.redirect");
    assert_eq!(diagnosis.report["revisions"][0], "2025-11-25");
}

#[test]
fn a_server_that_hangs_is_diagnosed_in_time() {
    let site = Site::broken("hang", &[]);
    let start = Instant::now();
    let diagnosis = site.doctor(&["--timeout", "6"]);
    assert!(
        start.elapsed() < Duration::from_secs(12),
        "{:?}",
        start.elapsed()
    );
    diagnosis.errors_are(7, &["http.silent"]);
}

/// A given secret is in no finding, even if the server sends it back.
#[test]
fn secrets_are_masked() {
    let site = Site::broken("locked", &[]);
    let diagnosis = site.doctor(&["-H", "Authorization: Bearer sesame-open-up"]);
    assert!(!diagnosis.report.to_string().contains("sesame"));
    assert!(!diagnosis.stderr.contains("sesame"));
}
