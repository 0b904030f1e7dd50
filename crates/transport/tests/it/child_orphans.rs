//! However the owner of a child ends, none of the child's processes is left running. The test binary is
//! started again as an owner.

use std::process::{Command as StdCommand, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use turnbuckle_transport::{Command, Pipes};

use crate::process_table::{MARK, eventually, mark, marked};

/// How the owner ends.
const ROLE: &str = "TURNBUCKLE_TEST_OWNER";

#[test]
#[ignore = "the owner that the other tests start"]
fn owner_process() {
    let role = std::env::var(ROLE).expect("started by a test");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        // A wrapper and its server, both of which only react to SIGKILL.
        let script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo ready; wait; sleep 1000";
        let command = Command::new("sh")
            .args(["-c", script])
            .drop_grace(Duration::from_millis(100));
        let (
            child,
            Pipes {
                reader,
                writer: _writer,
            },
        ) = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(reader).read_line(&mut line).await.unwrap();
        match &*role {
            "exits" => std::process::exit(0),
            "aborts" => std::process::abort(),
            "drops and exits" => {
                drop(child);
                std::process::exit(0);
            }
            other => panic!("no such role: {other}"),
        }
    });
}

fn no_process_is_left_when_the_owner(role: &str) {
    let mark = mark(role);
    let owner = StdCommand::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child_orphans::owner_process"])
        .env(ROLE, role)
        .env(MARK, &mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(owner.is_ok(), "{owner:?}");
    eventually("all are gone", || marked(&mark).is_empty());
}

#[test]
fn no_process_is_left_when_the_owner_exits() {
    no_process_is_left_when_the_owner("exits");
}

#[test]
fn no_process_is_left_when_the_owner_aborts() {
    no_process_is_left_when_the_owner("aborts");
}

#[test]
fn no_process_is_left_when_the_owner_drops_and_exits() {
    no_process_is_left_when_the_owner("drops and exits");
}
