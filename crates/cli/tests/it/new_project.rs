//! `turnbuckle new`. `scripts/new-projects` builds its projects and runs their tests.

use std::{fs, process::Command};

use crate::program::{BINARY, Place};

#[test]
fn each_form_is_a_package_that_cargo_reads() {
    for (options, feature) in [
        (&[][..], "server"),
        (&["--http"][..], "http"),
        (&["--auth"][..], "auth"),
    ] {
        let place = Place::new();
        let output = place.run(&[&["new", "greeter"], options].concat());
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("cargo test"), "{said}");
        let folder = place.path().join("greeter");
        for file in ["Cargo.toml", "src/main.rs", "README.md", ".gitignore"] {
            assert!(folder.join(file).is_file(), "{file}");
        }
        // Cargo finds the library in this checkout, with the features in the package.
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock")).unwrap();
        let read = Command::new(env!("CARGO"))
            .args(["metadata", "--offline", "--format-version=1"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(
            read.status.success(),
            "{}",
            String::from_utf8_lossy(&read.stderr)
        );
        let read: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
        let nodes = read["resolve"]["nodes"].as_array().unwrap();
        let library = nodes.iter().find(|node| {
            let id = node["id"].as_str().unwrap();
            id.contains("/crates/turnbuckle#")
        });
        let features = library.unwrap()["features"].as_array().unwrap();
        assert!(features.contains(&feature.into()), "{features:?}");
    }
}

/// Like after `cargo install`, or with a copy of the program in a folder of `PATH`.
#[test]
fn a_program_that_was_copied_uses_the_checkout_that_it_was_built_in() {
    let place = Place::new();
    let copy = place.file("copied-turnbuckle");
    fs::copy(BINARY, &copy).unwrap();
    let output = place.command(&copy).args(["new", "greeter"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let manifest: toml::Table = toml::from_str(&place.read("greeter/Cargo.toml")).unwrap();
    let path = manifest["dependencies"]["turnbuckle"]["path"].as_str();
    let library = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../turnbuckle")).unwrap();
    assert_eq!(path, library.to_str());
    assert!(
        !manifest["package"]["description"]
            .as_str()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_path_that_cannot_be_made_says_why() {
    let place = Place::new();
    for (path, problem) in [
        (".", "`.` has no name"),
        ("/", "`/` has no name"),
        ("deep/er/x", "the folder deep/er does not exist"),
        ("fn", "the name `fn` is a keyword of Rust"),
    ] {
        let output = place.run(&["new", path]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    fs::create_dir(place.path().join("greeter")).unwrap();
    let output = place.run(&["new", "greeter"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("already exists"), "{said}");
    assert_eq!(
        fs::read_dir(place.path().join("greeter")).unwrap().count(),
        0
    );
}

#[test]
fn a_name_that_cargo_refuses_is_refused_before_anything_is_made() {
    let place = Place::new();
    let output = place.run(&["new", "2fast"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!place.path().join("2fast").exists());
}

/// Without a server these commands end with code 3, "cannot connect"; a wrong command line would be code 2.
#[test]
fn the_calls_that_it_proposes_are_command_lines_that_work() {
    // A port that was free a moment ago.
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    for options in [&[][..], &["--http"], &["--auth"]] {
        let place = Place::new();
        let output = place.run(&[&["new", "greeter"], options].concat());
        let said = String::from_utf8_lossy(&output.stdout).replace("127.0.0.1:7250", &address);
        let call = said
            .lines()
            .rev()
            .find_map(|line| line.trim().strip_prefix("turnbuckle "))
            .expect("a call is proposed");
        assert!(call.starts_with("call "), "{call}");
        let words: Vec<&str> = call.split(' ').collect();
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(3), "{call}: {output:?}");
    }
}
