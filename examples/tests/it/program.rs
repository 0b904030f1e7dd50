//! The programs of the examples, which are in a folder beside the test's own program.

use std::{path::PathBuf, time::Duration};

use tokio::process::Command;
use turnbuckle::{
    client::{Client, Connection},
    transport,
};

/// How long a program may run: far more than any of them needs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The path of an example, which Cargo builds before the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let deps = test.parent().expect("it lies in a folder");
    let profile = deps.parent().expect("which lies in that of the profile");
    let path = profile
        .join("examples")
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} is not built: run `cargo build --examples`",
        path.display()
    );
    path
}

/// Our client, connected to an example server.
pub(crate) async fn connect(name: &str) -> Connection {
    connect_as(&Client::new("test", "1.0.0"), name).await
}

pub(crate) async fn connect_as(client: &Client, name: &str) -> Connection {
    client
        .connect(transport::Command::new(example(name)))
        .await
        .expect("the example answers")
}

/// Runs an example to its end, and returns its output.
pub(crate) async fn printed(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(example(name))
        .args(arguments)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TIMEOUT, output)
        .await
        .expect("the example ends in time")
        .expect("the example can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{name} ended with {}: {errors}",
        output.status
    );
    String::from_utf8(output.stdout).expect("examples print UTF-8")
}
