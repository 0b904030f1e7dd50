//! The example that signs a user in, with a browser that confirms everything by itself.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use tokio::process::Command;
use turnbuckle::{
    Http,
    auth::server::{Guard, Identity},
    prelude::*,
    transport::http::Listener,
};
use turnbuckle_test_authorization::AuthorizationServer;

use crate::program::example;

/// Says who calls.
#[tool(read_only)]
async fn whoami(#[extract] identity: Identity) -> String {
    identity.subject().to_owned()
}

/// Follows redirects as a browser does, and records each time it is opened.
const BROWSER: &str = "#!/usr/bin/env python3
import sys, urllib.request
open(__file__ + '.opened', 'a').write('once\\n')
urllib.request.urlopen(sys.argv[1]).read()
";

/// A folder with such a browser, in which the example also stores its tokens.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder can be made");
    let browser = home.path().join("browser");
    std::fs::write(&browser, BROWSER).expect("it can be written to");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&browser, executable).expect("its owner may do so");
    home
}

async fn run(home: &Path, arguments: &[&str]) -> String {
    let output = Command::new(example("sign_in"))
        .args(arguments)
        .env("BROWSER", home.join("browser"))
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .kill_on_drop(true)
        .output();
    let output = output.await.expect("the example can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("examples print UTF-8")
}

fn times_opened(home: &Path) -> usize {
    let notes = std::fs::read_to_string(home.join("browser.opened"));
    notes.map_or(0, |notes| notes.lines().count())
}

#[tokio::test]
async fn sign_in_opens_the_browser_until_it_is_remembered() {
    let issuer = AuthorizationServer::new().subject("ann");
    let issuer = issuer.start().await.expect("it starts");
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_address().expect("it is bound");
    let url = format!("http://{address}/mcp");
    let guard = Guard::new(&url).issuer(issuer.url());
    let guard = guard.build().expect("these settings fit");
    let server = Server::new("notes", "1.0.0").tool(whoami);
    tokio::spawn(server.serve(Http::listener(listener).protect(guard)));

    let home = home();
    assert_eq!(run(home.path(), &[&url]).await, "whoami\n");
    assert_eq!(times_opened(home.path()), 1);
    assert_eq!(run(home.path(), &[&url]).await, "whoami\n");
    assert_eq!(times_opened(home.path()), 1, "the tokens are remembered");

    assert_eq!(run(home.path(), &[&url, "goodbye"]).await, "signed out\n");
    assert_eq!(run(home.path(), &[&url]).await, "whoami\n");
    assert_eq!(times_opened(home.path()), 2, "and then they are forgotten");
}
