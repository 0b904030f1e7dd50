//! Messages of the binary to people.

use std::process::{Command, Output};

fn turnbuckle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_turnbuckle"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

#[test]
fn the_version_is_printed() {
    let output = turnbuckle(&["--version"]);
    assert!(output.status.success());
    let wanted = concat!("turnbuckle ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
}

#[test]
fn a_wrong_command_line_is_an_error_on_stderr() {
    for arguments in [
        &[][..],
        &["sevre"],
        &["serve", "--no-such-option"],
        &["serve", "--stdio", "--cors"],
    ] {
        let output = turnbuckle(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("Usage: turnbuckle"), "{stderr}");
    }
}
