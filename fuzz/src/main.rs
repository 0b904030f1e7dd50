//! Fuzzing: inputs are mutated at random, guided by coverage. `scripts/fuzz` builds and
//! runs it; docs/reliability.md lists the promises that the targets check.

mod coverage;
mod engine;
mod memory;
mod mutate;
mod random;
mod target;

use std::{fs, path::PathBuf, process::ExitCode};

use engine::{Settings, found_folder, name_of};

const USAGE: &str =
    "usage: turnbuckle-fuzz [TARGET] [--runs N] [--seed N] [--corpus FOLDER] [--careful 0|1]
Without a target, lists them.";

fn main() -> ExitCode {
    match start() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<ExitCode, String> {
    let mut name = None;
    let mut settings = Settings {
        runs: 20_000,
        seed: 1,
        corpus: None,
        is_careful: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE.to_owned());
        let number = |text: String| {
            text.parse()
                .map_err(|_| format!("`{text}` is not a number"))
        };
        match word.as_str() {
            "--runs" => settings.runs = number(value()?)?,
            "--seed" => settings.seed = number(value()?)?,
            "--corpus" => settings.corpus = Some(PathBuf::from(value()?)),
            "--careful" => settings.is_careful = number(value()?)? == 1,
            _ if word.starts_with('-') || name.is_some() => return Err(USAGE.to_owned()),
            _ => name = Some(word),
        }
    }
    let Some(name) = name else {
        for target in target::ALL {
            println!("{}", target.name);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let target = target::ALL.iter().find(|target| target.name == name);
    let target = target.ok_or(format!("there is no target `{name}`"))?;
    if let Some(folder) = &settings.corpus {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    run(target, &settings)
}

fn run(target: &target::Target, settings: &Settings) -> Result<ExitCode, String> {
    // A panic is reported once, at the end, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let report = engine::run(target, settings).map_err(|error| error.to_string())?;
    println!(
        "{:<16} {:>9} runs {:>8.0}/s {:>7} edges ({} by the seeds alone) {:>5} inputs kept",
        target.name,
        report.runs,
        report.runs as f64 / report.took.as_secs_f64().max(0.001),
        report.edges,
        report.edges_of_seeds,
        report.kept,
    );
    let Some(found) = report.found else {
        return match target.is_planted {
            true => Err("the planted mistake was not found: coverage does not guide".to_owned()),
            false => Ok(ExitCode::SUCCESS),
        };
    };
    if target.is_planted {
        return Ok(ExitCode::SUCCESS);
    }
    let folder = found_folder(target);
    let path = folder.join(name_of(&found.input));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, &found.input))
        .map_err(|error| error.to_string())?;
    eprintln!("error: {} failed: {}", target.name, found.message);
    eprintln!("the input is in {}:", path.display());
    eprintln!("{}", String::from_utf8_lossy(&found.input));
    Ok(ExitCode::FAILURE)
}
