//! The pages of the manual agree with `--help`.

use std::{collections::BTreeMap, fs, path::Path};

use crate::program::{Place, stdout};

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            Some((name, fs::read_to_string(&path).ok()?))
        })
        .collect()
}

/// `TURNBUCKLE_OVERWRITE=1` updates them.
#[test]
fn the_pages_of_the_repository_are_fresh() {
    let kept = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli"));
    let place = Place::new();
    let made = place.path().join("pages");
    let folder = made.to_str().expect("the path is text");
    let output = place.run(&["man", "--markdown", "--write", folder]);
    assert!(output.status.success(), "{output:?}");
    let made = pages(&made);
    assert!(made.len() > 15, "{:?}", made.keys());
    if std::env::var_os("TURNBUCKLE_OVERWRITE").is_some() {
        fs::create_dir_all(kept).expect("it can be made");
        for old in pages(kept).keys() {
            fs::remove_file(kept.join(old)).expect("it can be removed");
        }
        for (name, text) in &made {
            fs::write(kept.join(name), text).expect("it can be written");
        }
    }
    let there = pages(kept);
    for (name, text) in &made {
        assert_eq!(
            there.get(name),
            Some(text),
            "docs/cli/{name} is old: run this test with TURNBUCKLE_OVERWRITE=1"
        );
    }
    assert_eq!(there.len(), made.len(), "a page in docs/cli has no command");
}

#[test]
fn man_reads_the_pages() {
    let place = Place::new();
    let page = stdout(&place.run(&["man", "call"]));
    assert!(page.contains(".TH turnbuckle-call 1"), "{page}");
    assert!(page.contains("\\-\\-send\\-anyway"), "{page}");
    assert!(stdout(&place.run(&["man"])).contains("Exit codes"));
    let wrong = place.run(&["man", "cal"]);
    assert_eq!(wrong.status.code(), Some(2));
}

/// Every command and every option has a description.
#[test]
fn everything_has_help() {
    let place = Place::new();
    let pages = place.path().join("pages");
    let folder = pages.to_str().expect("the path is text");
    assert!(
        place
            .run(&["man", "--markdown", "--write", folder])
            .status
            .success()
    );
    for (name, text) in self::pages(&pages) {
        assert!(!text.contains("`: ."), "{name} has an option without help");
    }
}
