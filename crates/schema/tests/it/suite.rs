//! The official JSON Schema test suite, from the folder that `TURNBUCKLE_JSON_SCHEMA_SUITE` names
//! (the one that contains `draft2020-12`). It is not part of this repository: `./scripts/test schema`
//! fetches it and runs these tests, which no other run includes.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use turnbuckle_schema::{Dialect, Formats, Schema, SchemaError, Settings};

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    data: Value,
    valid: bool,
}

#[derive(Default)]
struct Tally {
    passed: usize,
    skipped: Vec<String>,
    failed: Vec<String>,
}

// rule: J11
#[test]
fn the_official_suite_of_2020_12_passes() {
    let folder = folder("draft2020-12");
    let tally = run(&folder, Settings::default(), |_| true);
    tally.expect_at_least(1_200);
}

#[test]
fn the_official_suite_of_draft_07_passes() {
    let folder = folder("draft7");
    let tally = run(
        &folder,
        Settings::default().with_dialect(Dialect::Draft07),
        |name| name != "refRemote.json",
    );
    tally.expect_at_least(850);
}

#[test]
fn the_optional_parts_we_claim_pass() {
    let folder = folder("draft2020-12/optional");
    let claimed = [
        "anchor.json",
        "bignum.json",
        "ecmascript-regex.json",
        "float-overflow.json",
        "id.json",
        "no-schema.json",
        "non-bmp-regex.json",
        "unknownKeyword.json",
    ];
    run(&folder, Settings::default(), |name| claimed.contains(&name)).expect_at_least(80);
}

#[test]
fn asserted_formats_agree_with_the_suite() {
    let folder = folder("draft2020-12/optional/format");
    let asserted = [
        "date-time.json",
        "date.json",
        "email.json",
        "ipv4.json",
        "ipv6.json",
        "time.json",
        "uri.json",
        "uuid.json",
    ];
    run(
        &folder,
        Settings::default().with_formats(Formats::Assert),
        |name| asserted.contains(&name),
    )
    .expect_at_least(240);
}

fn folder(part: &str) -> PathBuf {
    let root = std::env::var_os("TURNBUCKLE_JSON_SCHEMA_SUITE")
        .expect("TURNBUCKLE_JSON_SCHEMA_SUITE is not set; `./scripts/test schema` sets it");
    let folder = PathBuf::from(root).join(part);
    assert!(
        folder.is_dir(),
        "{} is not a folder of the suite",
        folder.display()
    );
    folder
}

fn run(folder: &Path, settings: Settings, wanted: impl Fn(&str) -> bool) -> Tally {
    let mut tally = Tally::default();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of the suite is readable")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    for file in files {
        let name = file
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        if !wanted(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let groups: Vec<Group> = serde_json::from_str(&text).expect("a file of the suite");
        for group in &groups {
            tally.group(&name, group, settings);
        }
    }
    tally
}

impl Tally {
    fn group(&mut self, file: &str, group: &Group, settings: Settings) {
        let title = format!("{file}: {}", group.description);
        let schema = match bundled(group.schema.clone(), settings) {
            Ok(schema) => schema,
            Err(error) if needs_remote(&error) => return self.skipped.push(title),
            Err(error) => return self.failed.push(format!("{title}: {error}")),
        };
        for test in &group.tests {
            let is_valid = schema.is_valid(&test.data);
            let reported = schema.check(&test.data);
            if is_valid == test.valid && reported.is_ok() == test.valid {
                self.passed += 1;
            } else {
                let said = reported.err().map(|list| list[0].to_string());
                self.failed.push(format!(
                    "{title}: {}: {is_valid} {said:?}",
                    test.description
                ));
            }
        }
    }

    #[track_caller]
    fn expect_at_least(&self, expected: usize) {
        println!(
            "{} passed, {} groups skipped: {:#?}",
            self.passed,
            self.skipped.len(),
            self.skipped
        );
        assert!(
            self.failed.is_empty(),
            "{} failed: {:#?}",
            self.failed.len(),
            self.failed
        );
        assert!(
            self.passed >= expected,
            "only {} of at least {expected} tests ran",
            self.passed
        );
    }
}

/// Compiles a schema together with the documents that it refers to on the suite's server. Each is put under
/// `$defs` with its own `$id`, as an author would bundle them.
fn bundled(mut schema: Value, settings: Settings) -> Result<Schema, SchemaError> {
    loop {
        let error = match Schema::compile_with(&schema, settings) {
            Err(error) => error,
            compiled => return compiled,
        };
        let SchemaError::ExternalReference { uri, .. } = &error else {
            return Err(error);
        };
        let (Some(mut remote), Some(root)) = (remote(uri), schema.as_object_mut()) else {
            return Err(error);
        };
        let Some(document) = remote.as_object_mut() else {
            return Err(error);
        };
        document
            .entry("$id")
            .or_insert_with(|| Value::from(uri.as_str()));
        let definitions = root
            .entry("$defs")
            .or_insert_with(|| Value::Object(Map::new()));
        if definitions.get(uri).is_some() {
            return Err(error);
        }
        definitions[uri] = remote;
    }
}

fn remote(uri: &str) -> Option<Value> {
    let path = uri.strip_prefix("http://localhost:1234/")?;
    let root = PathBuf::from(std::env::var_os("TURNBUCKLE_JSON_SCHEMA_SUITE")?);
    let text = std::fs::read_to_string(root.join("../remotes").join(path)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Whether a group refers to a document on the suite's own server. This crate never fetches anything.
fn needs_remote(error: &SchemaError) -> bool {
    match error {
        SchemaError::ExternalReference { uri, .. } | SchemaError::Dialect { uri } => {
            uri.contains("localhost:1234")
        }
        _ => false,
    }
}
