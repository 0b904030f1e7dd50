//! Mistakes in options for listening, accepted hosts and connecting are explained.

use crate::program::{HttpDemo, Place, stderr};

/// Asserts that the command ends with this code and this last line.
#[track_caller]
fn fails(words: &[&str], code: i32, wanted: &str) {
    let place = Place::new();
    let mut command = place.command("timeout");
    command.arg("20").arg(crate::program::BINARY).args(words);
    let output = command.output().expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(said.contains(wanted), "{words:?}: {said}");
}

#[test]
fn a_port_that_is_taken_is_explained() {
    let demo = HttpDemo::start();
    let hint =
        "hint: a program uses this port already; choose another one, or port 0 for any free port";
    for command in ["serve", "up"] {
        fails(&[command, "--listen", demo.address()], 3, hint);
    }
    let port = demo.address().rsplit(':').next().expect("a port");
    let wanted = "error: the inspector cannot listen\n  because: cannot listen at";
    fails(&["inspect", "--no-open", "--port", port], 3, wanted);
}

#[test]
fn what_is_not_an_address_is_a_mistake_of_usage() {
    let hint = "hint: write HOST:PORT, such as 127.0.0.1:7250";
    for address in ["nonsense", "127.0.0.1:99999", ""] {
        for command in ["serve", "up"] {
            fails(&[command, "--listen", address], 2, hint);
        }
    }
    fails(
        &["up", "--listen", "127.0.0.1:0", "--admin", "x"],
        2,
        "write HOST:PORT",
    );
}

#[test]
fn what_is_not_an_origin_is_refused() {
    let wanted = "it must be an origin, such as https://app.example";
    for command in ["serve", "up"] {
        for origin in ["foo", "https://app.example/"] {
            fails(&[command, "--allow-origin", origin], 2, wanted);
        }
    }
    let place = Place::new();
    place.write("turnbuckle.toml", "[gateway]\nallow-origins = [\"foo\"]\n");
    let output = place.run(&["up", "--check", "turnbuckle.toml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains(wanted), "{output:?}");
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    for url in ["http://mcp.example/mcp", "https://mcp.example/mcp"] {
        let proxy = "http://me:sesame@127.0.0.1:1";
        let wanted = "because: cannot connect through the proxy http://127.0.0.1:1\n";
        fails(&["list", url, "--proxy", proxy], 3, wanted);
    }
}

#[test]
fn a_file_without_certificates_is_refused() {
    let demo = HttpDemo::start();
    let place = Place::new();
    place.write("calls.yaml", "- call: echo\n");
    let output = place.run(&["list", &demo.url, "--cacert", "calls.yaml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(
        stderr(&output),
        "error: `calls.yaml` has no PEM certificate\n"
    );
}
