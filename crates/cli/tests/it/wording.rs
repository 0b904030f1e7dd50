//! Mistakes on a command line: what is said names the thing, and what is hinted at can be run.

use crate::program::{BINARY, Place, stderr};

#[test]
fn a_wrong_address_is_named_before_anything_is_connected_to() {
    let place = Place::new();
    for (address, wanted) in [
        ("http://", "error: `http://` is no URL of a server\n"),
        (
            "http://[::1",
            "error: `http://[::1` is no URL of a server\n",
        ),
        ("ftp://x/y", "error: `ftp://x/y` is no URL of a server\n"),
        (
            "http://ada:sesame@127.0.0.1:1/mcp",
            "error: the URL of the server has credentials in it\n",
        ),
        (
            "gopher://x/y?key=sesame",
            "error: `gopher://x/y` is no URL of a server\n",
        ),
    ] {
        let output = place.run(&["list", address]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(wanted), "{said}");
        assert!(!said.contains("sesame"), "{said}");
        assert_eq!(said.matches("hint:").count(), 1, "{said}");
    }
}

#[test]
fn a_hint_about_a_command_can_be_run_as_it_stands() {
    let place = Place::new();
    for (words, what, rest) in [
        (&["call"][..], "list", ""),
        (&["call", "zzzzzzzz"], "list", ""),
        (&["get"], "list", " prompts"),
        (&["read"], "list", " resources"),
        (&["tasks", "dance"], "tasks", " list"),
    ] {
        let output = place.run(&[words, &["--", BINARY, "serve", "--stdio"]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let hint = format!("hint: `turnbuckle {what}{rest} -- {BINARY} serve --stdio` ");
        let said = stderr(&output);
        assert!(said.contains(&hint), "{said}");
    }
}

/// It would be the end of the stack.
#[test]
fn an_argument_that_is_nested_too_deep_is_refused() {
    let place = Place::with_lab();
    let levels = 100_000;
    let json = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    std::fs::write(place.path().join("deep.json"), json).expect("it can be written");
    let file = format!("text:=@{}", place.path().join("deep.json").display());
    let output = place.run(&["call", "lab", "echo", &file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("nested deeper than 128 levels"), "{said}");
}
