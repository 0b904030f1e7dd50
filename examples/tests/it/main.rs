//! Runs every example: servers with our client, clients and complete programs by checking what they
//! print.

mod asking;
mod clients;
mod program;
mod programs;
#[cfg(unix)]
mod replicas;
mod servers;
mod signing_in;

use std::collections::BTreeSet;

/// The examples that are servers on stdio.
const SERVERS: [&str; 19] = [
    "app",
    "arguments",
    "booking",
    "by_hand",
    "dynamic_tools",
    "errors",
    "extractor",
    "hello",
    "layers",
    "long_build",
    "methods",
    "notes",
    "payment",
    "progress",
    "prompts",
    "resources",
    "state",
    "structured",
    "summariser",
];

/// The examples that are clients; their arguments name a server.
const CLIENTS: [&str; 4] = ["answering", "call_options", "list_and_call", "sign_in"];

/// The examples that are complete programs.
const PROGRAMS: [&str; 15] = [
    "agent",
    "answer_later",
    "authorization_server",
    "channel",
    "host",
    "in_process",
    "live_resource",
    "plugins",
    "protected",
    "simulation",
    "skills",
    "socket",
    "traces",
    "visibility",
    "web_app",
];

/// The example that runs in several processes.
const REPLICAS: [&str; 1] = ["replicas"];

#[test]
fn no_example_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder of examples is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let run = [&SERVERS[..], &CLIENTS, &PROGRAMS, &REPLICAS].concat();
    assert_eq!(
        files,
        run.into_iter().map(|name| format!("{name}.rs")).collect()
    );
}

#[test]
fn every_example_is_in_the_table() {
    let table = include_str!("../../lib.rs");
    for name in [&SERVERS[..], &CLIENTS, &PROGRAMS, &REPLICAS].concat() {
        assert!(
            table.contains(&format!("| `{name}` |")),
            "`{name}` is not in lib.rs"
        );
    }
}

#[test]
fn the_readme_shows_the_hello_example() {
    let code = include_str!("../../examples/hello.rs");
    let (_, code) = code
        .split_once("\n\n")
        .expect("the comment on top ends with a blank line");
    let readme = include_str!("../../../README.md");
    assert!(
        readme.contains(code),
        "README.md and examples/hello.rs differ"
    );
}
