//! `turnbuckle pack`: what is in the files, and that the server in a bundle runs.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

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

/// The package that publishes the schema of bundles checks the manifest.
#[test]
fn the_manifest_is_valid_for_the_publisher_of_the_format() {
    let modules = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../interop/typescript/node_modules"
    );
    let validator = Path::new(modules).join("@anthropic-ai/mcpb/dist/cli/cli.js");
    assert!(
        validator.is_file(),
        "run `npm ci --prefix interop/typescript`, as `./scripts/test` does"
    );
    let place = with_program();
    let words = ["pack", "--author", "Ada", "--user-env", "API_KEY"];
    let more = ["--homepage", "https://example.com/", "--", "./greeter"];
    let output = place.run(&[&words[..], &more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let bundle = fs::File::open(place.path().join(stdout(&output).trim())).unwrap();
    let unpacked = place.path().join("unpacked");
    zip::ZipArchive::new(bundle)
        .unwrap()
        .extract(&unpacked)
        .unwrap();
    let validate = |file: &Path| {
        let checked = Command::new("node")
            .arg(&validator)
            .arg("validate")
            .arg(file)
            .output()
            .unwrap();
        (checked.status.success(), format!("{checked:?}"))
    };
    let manifest = unpacked.join("manifest.json");
    let (is_valid, said) = validate(&manifest);
    assert!(is_valid, "{said}");

    // It finds what is wrong.
    let mut broken: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    broken["version"].take();
    fs::write(&manifest, broken.to_string()).unwrap();
    let (is_valid, said) = validate(&manifest);
    assert!(!is_valid, "{said}");
}
