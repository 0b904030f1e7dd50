//! Transcripts: the lines of a connection, as data.
//!
//! `>` is a line that the client sends, `<` a line that it then receives, `#` a remark. `$META` is
//! replaced by the `_meta` of a modern request, `$SERVER` by the server's description in a modern
//! result.

use serde_json::Value;
use turnbuckle_protocol::Revision;

use crate::{
    sample,
    wire::{Wire, modern_meta},
};

/// Plays a transcript against the sample server; every line must be exactly as written.
async fn play(transcript: &str) {
    let mut wire = Wire::open(&sample::server());
    let meta = modern_meta().to_string();
    let info = serde_json::to_string(&sample::info()).expect("plain JSON");
    let (mut actual, mut differences) = (String::new(), 0);
    for line in transcript.lines().filter(|line| !line.is_empty()) {
        let text = line.get(2..).unwrap_or_default();
        match line.get(..1) {
            Some(">") => wire.send_line(&text.replace("$META", &meta)).await,
            Some("<") => {
                let expected: Value =
                    serde_json::from_str(&text.replace("$SERVER", &info)).expect("JSON or nothing");
                let came = wire.receive().await;
                differences += usize::from(came != expected);
                actual.push_str(&format!("< {came}\n").replace(&info, "$SERVER"));
                continue;
            }
            _ => assert!(line.starts_with('#'), "what is this: {line}"),
        }
        actual.push_str(line);
        actual.push('\n');
    }
    wire.end_input().await;
    assert_eq!(
        wire.rest().await,
        [] as [Value; 0],
        "more came than is written"
    );
    assert_eq!(differences, 0, "what really went over the wire:\n{actual}");
}

#[tokio::test]
async fn every_method_at_2024_11_05() {
    play(include_str!("../data/transcripts/2024-11-05.txt")).await;
}

#[tokio::test]
async fn every_method_at_2025_03_26() {
    play(include_str!("../data/transcripts/2025-03-26.txt")).await;
}

#[tokio::test]
async fn every_method_at_2025_06_18() {
    play(include_str!("../data/transcripts/2025-06-18.txt")).await;
}

#[tokio::test]
async fn every_method_at_2025_11_25() {
    play(include_str!("../data/transcripts/2025-11-25.txt")).await;
}

// rule: J7, M6
#[tokio::test]
async fn every_method_at_2026_07_28() {
    play(include_str!("../data/transcripts/2026-07-28.txt")).await;
}

/// Both eras on one connection, each served in its own way.
#[tokio::test]
async fn both_eras_interleaved() {
    play(include_str!("../data/transcripts/both-eras.txt")).await;
}

/// The transcripts above include every revision.
#[test]
fn every_revision_has_its_transcript() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/transcripts");
    for &revision in Revision::ALL {
        let path = format!("{folder}/{revision}.txt");
        assert!(
            std::fs::exists(&path).is_ok_and(|exists| exists),
            "{path} is missing"
        );
    }
}
