//! `turnbuckle pack`: what is in the files, and that the server in a bundle runs.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use crate::program::{BINARY, Place, stderr, stdout};

/// A folder with a program that is the demo server.
fn with_program() -> Place {
    let place = Place::new();
    place.write(
        "greeter",
        &format!("#!/bin/sh\nexec '{BINARY}' serve --stdio \"$@\"\n"),
    );
    let program = place.path().join("greeter");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

#[test]
fn a_bundle_has_the_program_and_says_what_it_offers() {
    let place = with_program();
    let output = place.run(&[
        "pack",
        "--author",
        "Ada",
        "--description",
        "Greets people.",
        "--user-env",
        "API_KEY",
        "--registry",
        "io.github.ada/greeter",
        "--url",
        "https://example.com/greeter.mcpb",
        "--output",
        "out",
        "--",
        "./greeter",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    let [bundle, entry] = said.lines().collect::<Vec<_>>()[..] else {
        panic!("{said}");
    };
    let mut archive =
        zip::ZipArchive::new(fs::File::open(place.path().join(bundle)).unwrap()).unwrap();
    let unpacked = place.path().join("unpacked");
    archive.extract(&unpacked).unwrap();

    let manifest: Value = serde_json::from_str(&place.read("unpacked/manifest.json")).unwrap();
    assert_eq!(manifest["author"], json!({ "name": "Ada" }));
    assert_eq!(manifest["server"]["entry_point"], "server/greeter");
    let config = &manifest["server"]["mcp_config"];
    assert_eq!(config["command"], "${__dirname}/server/greeter");
    assert_eq!(
        config["env"],
        json!({ "API_KEY": "${user_config.api_key}" })
    );
    assert_eq!(manifest["user_config"]["api_key"]["sensitive"], true);
    let tools = manifest["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "echo"), "{tools:?}");

    // The program in the bundle may be run, and is the server.
    let program = place.file("unpacked/server/greeter");
    let listed = place.run(&["list", "--json", "--", &program]);
    assert!(listed.status.success(), "{}", stderr(&listed));

    let entry: Value = serde_json::from_str(&place.read(entry)).unwrap();
    assert_eq!(entry["name"], "io.github.ada/greeter");
    let package = &entry["packages"][0];
    assert_eq!(package["registryType"], "mcpb");
    assert_eq!(package["fileSha256"].as_str().unwrap().len(), 64);
    assert_eq!(entry["version"], manifest["version"]);
}

#[test]
fn the_same_server_makes_the_same_bundle() {
    let place = with_program();
    let pack = |folder: &str| {
        let words = ["--author", "Ada", "--description", "Greets."];
        let words = [
            &["pack"],
            &words[..],
            &["--output", folder, "--", "./greeter"],
        ]
        .concat();
        let output = place.run(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(place.path().join(stdout(&output).trim())).unwrap()
    };
    assert_eq!(pack("one"), pack("two"));
}

#[test]
fn what_is_missing_is_named_before_anything_is_written() {
    let place = with_program();
    let run = |words: &[&str]| {
        let output = place.run(&[&["pack", "--author", "Ada"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        stderr(&output)
    };
    assert!(run(&[]).contains("name the program"));
    assert!(run(&["--", "greeter-that-is-not-there"]).contains("there is no program"));
    let bad_name = [
        "--registry",
        "greeter",
        "--url",
        "https://x",
        "--",
        "./greeter",
    ];
    assert!(run(&bad_name).contains("not a name of the registry"));
    assert!(run(&["--user-env", "A=B", "--", "./greeter"]).contains("environment variable"));
    let files = fs::read_dir(place.path()).unwrap().filter_map(Result::ok);
    let bundles = files.filter(|file| file.file_name().to_string_lossy().ends_with(".mcpb"));
    assert_eq!(bundles.count(), 0);
}
