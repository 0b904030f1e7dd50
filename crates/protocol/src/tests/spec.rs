//! Finds the specification's own schemas and examples.
//!
//! They are read from their original place, never copied into this project. Their facts about types,
//! fields and methods are in the table of facts, so few tests need them. If they are not available,
//! those tests print a message and pass.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::Revision;
use serde_json::Value;

/// The revisions that the specification has published: all but a draft for tests.
pub(crate) fn published() -> impl Iterator<Item = Revision> {
    Revision::ALL
        .iter()
        .copied()
        .filter(|revision| revision.as_str() != "DRAFT")
}

/// The newest revision that the specification has published.
fn newest() -> Revision {
    published().last().expect("a revision is published")
}

/// A folder with the specification's data: a checkout of its repository, or one folder for each
/// revision.
pub(crate) struct Spec {
    root: PathBuf,
}

impl Spec {
    /// Finds the data, or prints that a test did not run.
    pub(crate) fn find(test: &str) -> Option<Self> {
        if let Some(folder) = env::var_os("TURNBUCKLE_SPEC").filter(|folder| !folder.is_empty()) {
            let spec = Self::at(Path::new(&folder));
            return Some(
                spec.expect("TURNBUCKLE_SPEC names a folder without `<revision>/schema.json`"),
            );
        }
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec");
        let spec = Self::at(&beside);
        if spec.is_none() {
            let message = format!(
                "{test} did not run: point TURNBUCKLE_SPEC at a checkout of the specification"
            );
            // Written directly to stderr, because the test harness would hide it.
            writeln!(std::io::stderr(), "{message}").expect("stderr is open");
        }
        spec
    }

    fn at(folder: &Path) -> Option<Self> {
        [folder.to_owned(), folder.join("schema")]
            .into_iter()
            .find(|root| root.join(newest().as_str()).join("schema.json").is_file())
            .map(|root| Self { root })
    }

    /// Returns the folder with the prose of revisions as texts, if it is beside the schemas.
    pub(crate) fn prose(&self) -> Option<PathBuf> {
        let folder = self.root.join("../seeds");
        folder.is_dir().then_some(folder)
    }

    /// The JSON Schema of a revision.
    pub(crate) fn schema(&self, revision: Revision) -> Value {
        read(&self.root.join(revision.as_str()).join("schema.json"))
    }

    /// Returns every example of the newest revision: its type, its file, and its content.
    pub(crate) fn examples(&self) -> Vec<(String, String, Value)> {
        let folder = self.root.join(newest().as_str()).join("examples");
        let mut examples = Vec::new();
        for kind in entries(&folder) {
            for file in entries(&kind) {
                let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
                examples.push((name(&kind), name(&file), read(&file)));
            }
        }
        examples
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_folder_without_schemas_is_not_a_specification() {
    assert!(Spec::at(Path::new(env!("CARGO_MANIFEST_DIR"))).is_none());
}
