//! The exact output of `--json`, which programs rely on.

use std::{fs, path::PathBuf};

use crate::program::{BINARY, Place, stdout};

/// The command lines, each with the name of the file that contains its expected output.
const RUN: [(&str, &[&str], i32); 21] = [
    (
        "call-add-2024-11-05",
        &[
            "call",
            "lab",
            "add",
            "a=1",
            "b=2",
            "--revision",
            "2024-11-05",
        ],
        0,
    ),
    (
        "call-add-2025-03-26",
        &[
            "call",
            "lab",
            "add",
            "a=1",
            "b=2",
            "--revision",
            "2025-03-26",
        ],
        0,
    ),
    (
        "call-add-2025-06-18",
        &[
            "call",
            "lab",
            "add",
            "a=1",
            "b=2",
            "--revision",
            "2025-06-18",
        ],
        0,
    ),
    (
        "call-add-2025-11-25",
        &[
            "call",
            "lab",
            "add",
            "a=1",
            "b=2",
            "--revision",
            "2025-11-25",
        ],
        0,
    ),
    (
        "call-add-2026-07-28",
        &["call", "lab", "add", "a=1", "b=2"],
        0,
    ),
    (
        "call-add-large",
        &["call", "lab", "add", "a=9007199254740993", "b=0"],
        0,
    ),
    (
        "call-weather",
        &["call", "lab", "weather", "place=Oslo", "unit=fahrenheit"],
        0,
    ),
    ("call-everything", &["call", "lab", "everything"], 0),
    ("call-fail", &["call", "lab", "fail", "reason=no"], 1),
    (
        "call-bake-task",
        &["call", "lab", "bake", "what=bread", "time=3"],
        0,
    ),
    (
        "call-deploy-asked",
        &["call", "lab", "deploy", "env=prod"],
        6,
    ),
    (
        "call-greet-asked-2025-11-25",
        &["call", "lab", "greet", "--revision", "2025-11-25"],
        6,
    ),
    ("read-readme", &["read", "lab", "demo://readme"], 0),
    (
        "read-logo-2025-06-18",
        &["read", "lab", "demo://logo.png", "--revision", "2025-06-18"],
        0,
    ),
    (
        "read-template",
        &[
            "read",
            "lab",
            "demo://timetables/{line}{?day}",
            "line=north",
            "day=saturday",
        ],
        0,
    ),
    (
        "get-review",
        &["get", "lab", "review", "language=rust", "code=fn"],
        0,
    ),
    (
        "complete-language",
        &["complete", "lab", "review", "language=ru"],
        0,
    ),
    ("list-echo", &["list", "lab", "ech"], 0),
    (
        "list-prompts-2025-03-26",
        &["list", "lab", "prompts", "--revision", "2025-03-26"],
        0,
    ),
    (
        "tasks-none",
        &["tasks", "lab", "list", "--revision", "2025-11-25"],
        0,
    ),
    ("servers", &["servers"], 0),
];

/// `TURNBUCKLE_OVERWRITE=1` writes the files again.
#[test]
fn what_programs_read_is_as_it_was() {
    let place = Place::with_lab();
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden"));
    let is_writing = std::env::var_os("TURNBUCKLE_OVERWRITE").is_some();
    for (name, words, code) in RUN {
        let output = place.run(&[words, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
        let home = place.path().to_str().expect("the path is text");
        let said = stdout(&output)
            .replace(BINARY, "BINARY")
            .replace(home, "HOME")
            .replace(env!("CARGO_PKG_VERSION"), "VERSION");
        assert_eq!(said.lines().count(), 1, "{name}: one line of JSON: {said}");
        let path = folder.join(format!("{name}.json"));
        if is_writing {
            fs::create_dir_all(&folder).expect("it can be made");
            fs::write(&path, &said).expect("it can be written");
        }
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            said, wanted,
            "{name}: TURNBUCKLE_OVERWRITE=1 writes it again"
        );
    }
}
