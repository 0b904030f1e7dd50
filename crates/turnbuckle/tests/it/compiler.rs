//! Runs the compiler on files that are not part of this crate, with the same libraries that these tests are
//! linked with, so that nothing is built again.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// This crate's folder, relative to the workspace.
const FOLDER: &str = "crates/turnbuckle";

/// `rustc`, and the library of this crate.
pub(crate) struct Compiler {
    library: PathBuf,
    /// Where its dependencies are.
    folder: PathBuf,
}

impl Compiler {
    /// Finds the library with cargo, with the features that it has in the whole workspace: compiler messages
    /// list types, and that list must not depend on which packages are tested. An example is built because
    /// examples are built with these features, and before any test runs.
    pub(crate) fn find() -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = as_from_a_shell(Command::new(cargo))
            .args(["build", "--workspace", "--example", "hello"])
            .args(["--quiet", "--message-format=json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let messages = String::from_utf8(output.stdout).unwrap();
        let library = messages.lines().find_map(library).unwrap();
        let folder = library.parent().unwrap().to_owned();
        let folder = if folder.ends_with("deps") {
            folder
        } else {
            folder.join("deps")
        };
        Self { library, folder }
    }

    /// The compiler's messages for a file that it must reject, without the parts that differ between machines.
    pub(crate) fn refuses(&self, case: &Path) -> Result<String, String> {
        let output = self.compile(case, "metadata");
        if output.status.success() {
            return Err(format!("{}: compiles, and should not", case.display()));
        }
        Ok(portable(&stderr(&output)))
    }

    /// Compiles a file that must compile without warnings, and runs it.
    pub(crate) fn run(&self, case: &Path) {
        let output = self.compile(case, "link");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            stderr(&output)
        );
        let ran = Command::new(product(case)).output().unwrap();
        assert!(ran.status.success(), "{}: {}", case.display(), stderr(&ran));
    }

    fn compile(&self, case: &Path, emit: &str) -> Output {
        let library = format!("turnbuckle={}", self.library.display());
        let folder = format!("dependency={}", self.folder.display());
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args([
                "--edition=2024",
                "--crate-type=bin",
                "--diagnostic-width=400",
            ])
            .args(["--allow=dead_code", "--emit", emit])
            .args(["--extern", &library, "-L", &folder])
            .arg("-o")
            .arg(product(case))
            .arg(Path::new(FOLDER).join(case))
            // The library was compiled in this folder, so the compiler finds and shows its files by the same paths.
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .output()
            .unwrap()
    }
}

fn product(case: &Path) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(case.file_stem().unwrap())
}

/// Removes the variables that cargo sets to describe the package of a test. Some build scripts run again if
/// these change, and everything that depends on them would be built again.
fn as_from_a_shell(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The library of this crate, if this message from cargo is about it.
fn library(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_ours = message["target"]["name"] == "turnbuckle"
        && message["target"]["kind"] == serde_json::json!(["lib"])
        && message["profile"]["test"] == false;
    let files = message["filenames"].as_array().filter(|_| is_ours)?;
    let mut files = files.iter().filter_map(Value::as_str).map(PathBuf::from);
    files.find(|it| it.extension().is_some_and(|it| it == "rlib"))
}

/// How many columns the line numbers take: the number of digits in the last line number of a case.
const MARGIN: usize = 3;

/// Removes the parts of the messages that unrelated changes affect: the list of other types and their count, and the
/// line numbers in files of the library, with their padding.
fn portable(said: &str) -> String {
    let cases = format!("{FOLDER}/tests/it/ui/");
    let mut portable = String::new();
    let (mut is_library, mut is_list, mut margin) = (false, false, 0);
    for line in said.lines().filter(|it| !is_summary(it)) {
        let text = line.trim_start();
        // The names in the list depend on the features that other crates of the workspace turn on: if two types
        // have the same name, it is written with its path and sorted elsewhere.
        if is_list && is_listed(line) {
            continue;
        }
        is_list = text.starts_with("= help: the following other types implement trait");
        if let Some(place) = text
            .strip_prefix("--> ")
            .or_else(|| text.strip_prefix("::: "))
        {
            is_library = !place.starts_with(&cases);
            margin = line.len() - text.len();
        } else if !text.starts_with(|it: char| it.is_ascii_digit() || "|.".contains(it)) {
            is_library = false;
        }
        let line = if is_library {
            without_numbers(line)
        } else {
            line.to_owned()
        };
        let line = without_count(&line).replace(&cases, "tests/it/ui/");
        portable += with_margin(&line, margin).trim_end();
        portable.push('\n');
    }
    format!("{}\n", portable.trim_end())
}

/// Line numbers are padded to the longest in the message.
fn with_margin(line: &str, margin: usize) -> String {
    match line.split_at_checked(margin) {
        Some((number, rest))
            if margin > 0 && number.bytes().all(|it| it == b' ' || it.is_ascii_digit()) =>
        {
            format!("{:>MARGIN$}{rest}", number.trim())
        }
        _ => line.to_owned(),
    }
}

/// Whether this line of a list of types names one. The line after the last type gives their count, or something else.
fn is_listed(line: &str) -> bool {
    let text = line.trim_start();
    line.starts_with(' ')
        && !text.is_empty()
        && !text.starts_with(['=', '|'])
        && !text.starts_with("and ")
}

fn is_summary(line: &str) -> bool {
    [
        "error: aborting due to ",
        "Some errors have detailed",
        "For more information about",
    ]
    .iter()
    .any(|it| line.starts_with(it))
}

/// Removes the numbers from a line about code of the library: the position after a file name, and the line
/// numbers beside code.
fn without_numbers(line: &str) -> String {
    let is_place = line.trim_start().starts_with(['-', ':']);
    if let Some((file, _)) = line.split_once(".rs:").filter(|_| is_place) {
        return format!("{file}.rs");
    }
    let margin = line.find('|').unwrap_or(0);
    let (numbers, code) = line.split_at(margin);
    numbers.replace(|it: char| it.is_ascii_digit(), " ") + code
}

/// Removes `and 12 others`: that count is about unrelated types.
fn without_count(line: &str) -> String {
    let text = line.trim_start();
    let count = text
        .strip_prefix("and ")
        .and_then(|it| it.strip_suffix(" others"));
    count.map_or_else(|| line.to_owned(), |it| line.replacen(it, "$N", 1))
}
