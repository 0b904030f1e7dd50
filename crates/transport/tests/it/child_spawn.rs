//! Starting a child: its arguments and environment, and the errors if it cannot be started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tokio::io::AsyncReadExt;
use turnbuckle_transport::{Command, SpawnError};

async fn output_of(command: Command) -> String {
    let (_child, mut pipes) = command.spawn().unwrap();
    let mut output = String::new();
    pipes.reader.read_to_string(&mut output).await.unwrap();
    output
}

/// A folder for this test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("turnbuckle-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn arguments_environment_and_directory_arrive() {
    let folder = Folder::new("arrive");
    let script = "echo \"$1|$2|$A|$B|$HOME|$(pwd)\"";
    let command = Command::new("sh")
        .arg("-c")
        .arg(script)
        .args(["name", "x y", "*"]);
    let command = command
        .env("A", "1")
        .env("B", "2")
        .env_remove("HOME")
        .current_dir(&folder.0);
    let directory = folder.0.canonicalize().unwrap();
    assert_eq!(
        output_of(command).await,
        format!("x y|*|1|2||{}\n", directory.display())
    );
}

#[tokio::test]
async fn a_cleared_environment_has_what_was_set_and_nothing_else() {
    let path = std::env::var("PATH").unwrap();
    let command = Command::new("env")
        .env("LOST", "1")
        .env_clear()
        .env("PATH", &path)
        .env("A", "1");
    let output = output_of(command).await;
    let mut lines: Vec<_> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=1".to_owned(), format!("PATH={path}")]);
}

#[tokio::test]
async fn a_missing_program_says_to_check_path() {
    let error = Command::new("no-such-mcp-server").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::NoSuchProgram { .. }));
    let text = error.to_string();
    assert!(
        text.contains("`no-such-mcp-server`") && text.contains("PATH"),
        "{text}"
    );
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    let error = Command::new("sh")
        .current_dir("/no/such/folder")
        .spawn()
        .unwrap_err();
    assert!(matches!(error, SpawnError::NoSuchDirectory { .. }));
    let text = error.to_string();
    assert!(
        text.contains("`sh`") && text.contains("`/no/such/folder`"),
        "{text}"
    );
}

#[tokio::test]
async fn a_script_without_its_interpreter_is_told_from_a_missing_one() {
    let folder = Folder::new("interpreter");
    let script = folder.file("server", "#!/no/such/python\n", 0o755);
    let error = Command::new(&script).spawn().unwrap_err();
    assert!(
        matches!(error, SpawnError::NoSuchInterpreter { .. }),
        "{error}"
    );
    let relative = Command::new("./server")
        .current_dir(&folder.0)
        .spawn()
        .unwrap_err();
    assert!(
        matches!(relative, SpawnError::NoSuchInterpreter { .. }),
        "{relative}"
    );
}

#[tokio::test]
async fn a_file_that_may_not_be_executed_says_so() {
    let folder = Folder::new("permission");
    let script = folder.file("server", "#!/bin/sh\n", 0o644);
    let error = Command::new(&script).spawn().unwrap_err();
    assert!(
        matches!(error, SpawnError::PermissionDenied { .. }),
        "{error}"
    );
}

#[test]
fn outside_a_runtime_it_is_an_error_and_no_panic() {
    let error = Command::new("true").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::NoRuntime { .. }), "{error}");
}
