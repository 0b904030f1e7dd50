//! `turnbuckle pack`: the content of the files, and that the server in a bundle runs.
//!
//! The files are checked against what their formats publish. The package `@anthropic-ai/mcpb` checks manifests. The
//! registry only publishes its JSON Schema on the web; it is taken from a package that contains it, `skillsaw`,
//! because tests depend on packages with a pinned version, and this repository contains no files of others.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use serde_json::{Value, json};
use turnbuckle::schema::{Formats, Schema, Settings};

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

    // The program in the bundle is executable, and is the server.
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
    assert!(run(&["--", "greeter-that-is-not-there"]).contains("no program at"));
    let bad_name = [
        "--registry",
        "greeter",
        "--url",
        "https://x",
        "--",
        "./greeter",
    ];
    assert!(run(&bad_name).contains("not a name of the registry"));
    for (words, problem) in [
        (
            ["--user-env", "A=B"],
            "is not the name of an environment variable",
        ),
        (["--homepage", "notaurl"], "`notaurl` is not a URL"),
        (["--description", " "], "the server has no description"),
    ] {
        let said = run(&[&words[..], &["--", "./greeter"]].concat());
        assert!(said.contains(problem), "{said}");
    }
    let collide = ["--user-env", "A", "--user-env", "a", "--", "./greeter"];
    assert!(run(&collide).contains("differ only in case"));
    let words = ["pack", "--author", " ", "--", "./greeter"];
    assert!(stderr(&place.run(&words)).contains("the author is empty"));
    let files = fs::read_dir(place.path()).unwrap().filter_map(Result::ok);
    let bundles = files.filter(|file| file.file_name().to_string_lossy().ends_with(".mcpb"));
    assert_eq!(bundles.count(), 0);
}

/// The program of `turnbuckle new`, unchanged.
#[test]
fn the_server_of_a_template_is_packed_without_more_words() {
    let place = Place::new();
    let program = Path::new(BINARY).with_file_name("examples/template_stdio");
    let program = program.to_str().unwrap();
    let output = place.run(&["pack", "--author", "Ada", "--", program]);
    assert!(output.status.success(), "{}", stderr(&output));
    let bundle = fs::File::open(place.path().join(stdout(&output).trim())).unwrap();
    let mut archive = zip::ZipArchive::new(bundle).unwrap();
    let manifest = archive.by_name("manifest.json").unwrap();
    let manifest: Value = serde_json::from_reader(manifest).unwrap();
    // The template is built as a part of this package here.
    assert_eq!(manifest["description"], env!("CARGO_PKG_DESCRIPTION"));
    assert_eq!(manifest["tools"][0]["name"], "greet");
}

const RELEASE: &str = "https://github.com/ada/greeter/releases/download/v1/greeter.mcpb";

#[test]
fn the_rules_of_the_registry_are_told() {
    let place = with_program();
    let run = |url: &str, description: &str| {
        let words = ["pack", "--author", "Ada", "--registry", "io.github.ada/x"];
        let more = [
            "--url",
            url,
            "--description",
            description,
            "--",
            "./greeter",
        ];
        place.run(&[&words[..], &more].concat())
    };
    let output = run(RELEASE, "Greets people.");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(!said.contains("warning"), "{said}");
    assert!(
        said.contains("next: upload the bundle to https://"),
        "{said}"
    );

    let output = run("https://example.com/greeter.mcpb", "Greets people.");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: the official registry accepts only bundles in"));

    let output = run(RELEASE, &"long ".repeat(30));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has 150 characters; the registry allows 100"));
}

/// Uses the JSON Schema of the registry, from the folder into which `./scripts/test schema` unpacks a package.
#[test]
fn the_entry_fits_the_schema_of_the_registry() {
    let file = std::env::var_os("TURNBUCKLE_REGISTRY_SCHEMA")
        .expect("TURNBUCKLE_REGISTRY_SCHEMA is not set; `./scripts/test schema` sets it");
    let schema: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let settings = Settings::default().with_formats(Formats::Assert);
    let place = with_program();
    for more in [
        &[][..],
        &[
            "--homepage",
            "https://example.com/",
            "--user-env",
            "API_KEY",
        ],
    ] {
        let words = ["pack", "--author", "Ada", "--registry", "io.github.ada/x"];
        let url = ["--description", "Greets people.", "--url", RELEASE];
        let output = place.run(&[&words[..], &url, more, &["--", "./greeter"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let mut entry: Value = serde_json::from_str(&place.read("server.json")).unwrap();
        // The entry names the schema that it is checked with.
        assert_eq!(entry["$schema"], schema["$id"]);
        let schema = Schema::compile_with(&schema, settings).unwrap();
        assert_eq!(
            schema.check(&entry).map_err(|it| schema.explain(&it)),
            Ok(())
        );

        // The schema rejects wrong entries.
        for (pointer, wrong) in [
            ("/name", json!("greeter")),
            ("/description", json!("x".repeat(101))),
            ("/packages/0/fileSha256", json!("abc")),
            ("/packages/0/transport", json!({ "type": "http" })),
            ("/$schema", json!("no URI")),
        ] {
            let right = std::mem::replace(entry.pointer_mut(pointer).unwrap(), wrong);
            assert!(!schema.is_valid(&entry), "{pointer}");
            *entry.pointer_mut(pointer).unwrap() = right;
        }
    }
}

/// Checks the manifest with the package that publishes the schema of bundles.
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

    // It rejects wrong manifests.
    let mut broken: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    broken["version"].take();
    fs::write(&manifest, broken.to_string()).unwrap();
    let (is_valid, said) = validate(&manifest);
    assert!(!is_valid, "{said}");
}

#[test]
fn it_has_no_options_for_servers_at_a_url() {
    let place = with_program();
    let help = stdout(&place.run(&["pack", "--help"]));
    for option in [
        "--header",
        "--proxy",
        "--cacert",
        "--insecure",
        "--era",
        "--config",
    ] {
        assert!(!help.contains(option), "{option} in {help}");
    }
    assert!(help.contains("--timeout"), "{help}");
    let words = [
        "pack",
        "--author",
        "Ada",
        "--timeout",
        "0",
        "--",
        "./greeter",
    ];
    assert_eq!(place.run(&words).status.code(), Some(2));
}
