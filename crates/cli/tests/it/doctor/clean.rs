//! Servers without mistakes have no findings.

use super::*;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[track_caller]
fn is_clean(diagnosis: &Diagnosis) {
    let wrong: Vec<_> = diagnosis
        .findings()
        .filter(|finding| finding["severity"] != "ok")
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(diagnosis.code, 0, "{}", diagnosis.stderr);
}

#[test]
fn the_demo_server_over_stdio_in_every_era() {
    let serve = ["--", BINARY, "serve", "--stdio"];
    let with = |options: &[&str]| doctor(&[options, &serve].concat());
    let both = with(&["--call"]);
    is_clean(&both);
    let revisions = &both.report["revisions"];
    assert_eq!(revisions[0], "2026-07-28");
    assert_eq!(revisions[1], "2025-11-25");
    is_clean(&with(&["--era", "modern"]));
    for revision in LEGACY {
        let diagnosis = with(&["--revision", revision]);
        is_clean(&diagnosis);
        assert_eq!(diagnosis.report["revisions"][0], revision);
    }
}

#[test]
fn the_demo_server_over_http_in_every_era() {
    let site = demo();
    is_clean(&site.doctor(&["--call"]));
    is_clean(&site.doctor(&["--era", "modern"]));
    for revision in LEGACY {
        let diagnosis = site.doctor(&["--revision", revision]);
        is_clean(&diagnosis);
        assert_eq!(diagnosis.report["revisions"][0], revision);
    }
}

#[test]
fn the_demo_server_over_the_older_transport() {
    let site = demo();
    let diagnosis = site.at("http", "/sse", &["--revision", "2024-11-05"]);
    is_clean(&diagnosis);
    assert_eq!(diagnosis.report["transport"], "http+sse");
    let diagnosis = site.at("http", "/sse", &[]);
    assert_eq!(
        diagnosis.wrong("error"),
        Vec::<&str>::new(),
        "{:#}",
        diagnosis.report
    );
}

/// The reference server has no error over stdio. Over HTTP it has real ones: it serves every
/// web page, and answers 400 for sessions that have ended.
#[test]
fn the_reference_server_has_no_false_error() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/typescript");
    let modules = Path::new(folder).join("node_modules");
    let installed = std::fs::read_dir(&modules)
        .expect("run `npm ci --prefix interop/typescript`, as `./scripts/test` does");
    let package = installed
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name.starts_with("everything-"))
        .expect("it is among the peers");
    let program = modules.join(&package).join("dist/index.js");
    let program = program.to_str().expect("the path is UTF-8");
    let diagnosis = doctor(&["--timeout", "24", "--call", "--", "node", program, "stdio"]);
    assert_eq!(
        diagnosis.wrong("error"),
        Vec::<&str>::new(),
        "{:#}",
        diagnosis.report
    );
    let starter = Path::new(folder).join("everything.mjs");
    let starter = starter.to_str().expect("the path is UTF-8");
    for (kind, path) in [("http", "/mcp"), ("sse", "/sse")] {
        let site = Site::start("node", &[starter, &package, kind]);
        let diagnosis = site.at("http", path, &[]);
        for id in diagnosis.wrong("error") {
            let is_true = ["origin.foreign", "session.ended"].contains(&id);
            assert!(is_true, "{id}: {:#}", diagnosis.report);
        }
        assert_eq!(diagnosis.report["revisions"][0], "2025-11-25");
    }
}
