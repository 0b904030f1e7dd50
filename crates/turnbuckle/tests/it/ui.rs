//! The compiler's messages for mistakes: each file in `ui` is compiled, and must be rejected with the messages in
//! the file beside it. After a change of wording, run
//! `TURNBUCKLE_OVERWRITE=1 cargo test -p turnbuckle --test it ui`, then read every difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use crate::compiler::Compiler;

// rule: E4
#[test]
fn messages_point_at_the_mistake_and_say_what_to_write() {
    let compiler = Compiler::find();
    let left = Mutex::new(cases("ui"));
    let wrong = Mutex::new(Vec::new());
    // Not in the loop's header, where the lock would be held while the compiler runs.
    let next = || left.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = next() {
                    if let Err(why) = compare(&compiler, &case) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_promised_form_compiles_without_a_warning_and_runs() {
    let compiler = Compiler::find();
    for case in cases("ui/pass") {
        compiler.run(&case);
    }
}

/// The Rust files in a folder beside this file, as paths relative to the crate's folder.
fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("tests/it").join(folder);
    let files = fs::read_dir(&folder).unwrap();
    let mut cases: Vec<_> = files.map(|it| it.unwrap().path()).collect();
    cases.retain(|it| it.extension().is_some_and(|it| it == "rs"));
    assert!(!cases.is_empty(), "no case in {}", folder.display());
    cases
}

fn compare(compiler: &Compiler, case: &Path) -> Result<(), String> {
    let said = compiler.refuses(case)?;
    let beside = case.with_extension("stderr");
    if std::env::var_os("TURNBUCKLE_OVERWRITE").is_some() {
        fs::write(&beside, said).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    if said == expected {
        return Ok(());
    }
    let case = case.display();
    Err(format!(
        "{case}: the compiler says something else.\n--- expected\n{expected}\n--- is\n{said}"
    ))
}
