//! Signing in to a protected server, and out again, with a browser that agrees to everything.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use crate::program::{BINARY, Place, stderr, stdout};

/// A protected server with its authorization server.
pub(crate) struct Guarded {
    process: Child,
    pub(crate) url: String,
}

impl Guarded {
    pub(crate) fn start(place: &Place) -> Self {
        Self::start_with(place, "tokens")
    }

    /// Starts a server that stores the valid tokens in this file.
    pub(crate) fn start_with(place: &Place, tokens: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/guarded.py");
        let mut process = Command::new("python3")
            .args(["-B", script, &place.file(tokens)])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut port = String::new();
        BufReader::new(process.stdout.take().expect("stdout is piped"))
            .read_line(&mut port)
            .expect("it says where it is");
        assert!(
            !port.is_empty(),
            "the server ended before it said where it is"
        );
        let url = format!("http://127.0.0.1:{}/mcp", port.trim());
        Self { process, url }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program that follows all redirects, as a browser does.
pub(crate) fn browser(place: &Place) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "#!/usr/bin/env python3\nimport sys, urllib.request\nurllib.request.urlopen(sys.argv[1], timeout=20).read()\n";
    place.write("browser", text);
    let path = place.file("browser");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("it is ours");
    path
}

/// Whether any stored file contains this text.
fn is_kept(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let holds = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(text);
        path.is_dir() && is_kept(&path, text) || std::fs::read(&path).is_ok_and(holds)
    })
}

fn run(place: &Place, words: &[&str]) -> Output {
    let mut command = place.command(BINARY);
    command.args(words).env("BROWSER", browser(place));
    command.output().expect("the binary runs")
}

#[test]
fn what_was_signed_in_to_is_used_until_it_is_signed_out_of() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let refused = run(&place, &["list", &server.url]);
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    let hint = format!("hint: run `turnbuckle login {}` to sign in\n", server.url);
    assert!(stderr(&refused).ends_with(&hint), "{refused:?}");

    let login = run(&place, &["login", "--allow-private-networks", &server.url]);
    assert_eq!(login.status.code(), Some(0), "{login:?}");
    assert_eq!(stdout(&login), "");
    let said = stderr(&login);
    assert!(
        said.contains(&format!("signed in to {}", server.url)),
        "{said}"
    );
    let tokens = place.read("tokens");
    assert_eq!(tokens.lines().count(), 1, "{tokens}");
    assert!(is_kept(&place.path().join("data"), tokens.trim()));

    let listed = run(&place, &["list", &server.url]);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    assert!(
        stdout(&listed).contains("echo(text?: string)"),
        "{listed:?}"
    );
    let again = run(&place, &["login", "--allow-private-networks", &server.url]);
    assert!(stderr(&again).contains("already"), "{again:?}");

    let logout = run(&place, &["logout", &server.url]);
    assert_eq!(logout.status.code(), Some(0), "{logout:?}");
    assert_eq!(place.read("tokens"), "", "it was not given back");
    assert!(!is_kept(&place.path().join("data"), tokens.trim()));
    assert_eq!(run(&place, &["list", &server.url]).status.code(), Some(5));
}

/// An authorization server that was installed again does not know the clients and the tokens that it had.
#[test]
fn a_client_that_was_forgotten_registers_again_when_it_is_told_to() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let login = ["login", "--allow-private-networks", &server.url];
    let signed = run(&place, &login);
    assert_eq!(signed.status.code(), Some(0), "{signed:?}");
    let forget = server.url.replace("/mcp", "/forget");
    let post = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1], b'')";
    let forgot = Command::new("python3").args(["-c", post, &forget]).status();
    assert!(forgot.expect("python3 runs").success());

    assert_eq!(run(&place, &["list", &server.url]).status.code(), Some(5));

    let again = run(&place, &[&login[..], &["--register-again"]].concat());
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let listed = run(&place, &["list", &server.url]);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
}

/// No file may contain a byte here, as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn tokens_that_cannot_be_kept_are_an_error() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let url = &server.url;
    let line =
        format!("trap '' XFSZ; ulimit -f 0; turnbuckle login --allow-private-networks {url}");
    let mut command = place.command("bash");
    let command = command.args(["-c", &line]).env("BROWSER", browser(&place));
    let output = command.output().expect("bash runs");
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("could not be kept"), "{said}");
}

/// With a keyring, files contain nothing that can be read without it. The keyring is a real one, and ends with
/// the session bus that it is started on.
#[cfg(target_os = "linux")]
#[test]
fn a_keyring_seals_what_is_kept() {
    let place = Place::new();
    let server = Guarded::start(&place);
    let line = format!(
        "turnbuckle login --allow-private-networks {url} && turnbuckle list {url}",
        url = server.url
    );
    let output = place
        .with_keyring(&line)
        .env("BROWSER", browser(&place))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        !stderr(&output).contains("no keyring is available"),
        "{output:?}"
    );
    assert!(
        stdout(&output).contains("echo(text?: string)"),
        "{output:?}"
    );
    let token = place.read("tokens");
    assert!(!is_kept(&place.path().join("data"), token.trim()));
    // The files are useless without the keyring.
    assert_eq!(run(&place, &["list", &server.url]).status.code(), Some(5));
}
