//! `ceilings.toml`: the maximum cost of each path, as a multiple of the control's. A change that makes a
//! path slower by more than the tolerance has to record the new ceiling.

use std::{fmt::Write, path::PathBuf};

use serde::Deserialize;

use crate::{Result, instructions::Counts, paths::PATHS, peers::Peer, peers::root};

/// Counts differ by less than one percent from run to run.
const TOLERANCE: f64 = 0.03;

#[derive(Deserialize)]
pub(crate) struct Ceilings {
    /// The compiler that was used, for information.
    rustc: String,
    path: Vec<Ceiling>,
}

#[derive(Deserialize)]
struct Ceiling {
    name: String,
    /// Instructions as a multiple of the control's.
    ratio: f64,
    /// Instructions of both, for information.
    instructions: f64,
    control: f64,
}

fn file() -> PathBuf {
    root().join("bench/ceilings.toml")
}

impl Ceilings {
    pub(crate) fn open() -> Result<Self> {
        let text = std::fs::read_to_string(file());
        let text = text.map_err(|error| format!("bench/ceilings.toml: {error}"))?;
        Ok(toml::from_str(&text)?)
    }

    pub(crate) fn new(counts: &Counts, rustc: String) -> Self {
        let path = PATHS.iter().filter_map(|path| {
            Some(Ceiling {
                name: path.name.to_owned(),
                ratio: counts.ratio(path.name, Peer::Turnbuckle)?,
                instructions: counts.of(path.name, Peer::Turnbuckle)?,
                control: counts.of(path.name, Peer::Control)?,
            })
        });
        Self {
            rustc,
            path: path.collect(),
        }
    }

    pub(crate) fn save(&self) -> Result<()> {
        let mut text = "# What each path may cost: instructions for a request as a multiple of the control's, 3 % more at most.\n\
             # `./scripts/test speed` checks it; `cargo run --release -p bench -- instructions --record` writes it.\n\
             # The counts are for the reader, and hold for this compiler.\n"
            .to_owned();
        writeln!(text, "rustc = {:?}", self.rustc)?;
        for it in &self.path {
            let Ceiling {
                name,
                ratio,
                instructions,
                control,
            } = it;
            write!(
                text,
                "\n[[path]]\nname = {name:?}\nratio = {ratio:.3}\ninstructions = {instructions:.0}\ncontrol = {control:.0}\n"
            )?;
        }
        Ok(std::fs::write(file(), text)?)
    }

    /// By how much a path exceeds its ceiling, as a fraction of the ceiling.
    pub(crate) fn excess(&self, name: &str, counts: &Counts) -> Option<f64> {
        let ceiling = self.path.iter().find(|it| it.name == name)?.ratio;
        let ratio = counts.ratio(name, Peer::Turnbuckle);
        let more = ratio.unwrap_or(f64::INFINITY) / ceiling - 1.0;
        (more > TOLERANCE).then_some(more)
    }

    /// Fails with every path that is above its ceiling or has none.
    pub(crate) fn check(&self, counts: &Counts) -> Result<()> {
        let mut problems = String::new();
        for path in &PATHS {
            let name = path.name;
            let ratio = counts
                .ratio(name, Peer::Turnbuckle)
                .unwrap_or(f64::INFINITY);
            let ceiling = self.path.iter().find(|it| it.name == name);
            match (ceiling, self.excess(name, counts)) {
                (None, _) => writeln!(problems, "`{name}` has no ceiling")?,
                (Some(Ceiling { ratio: ceiling, .. }), Some(more)) => writeln!(
                    problems,
                    "`{name}` costs {:.1} % more than it may: ×{ratio:.3} of the control, ceiling ×{ceiling}",
                    more * 100.0
                )?,
                (Some(_), None) => {}
            }
        }
        if problems.is_empty() {
            println!("no path is above its ceiling");
            return Ok(());
        }
        let rustc = &self.rustc;
        Err(format!(
            "{problems}make it cheaper, or record why it may not be: \
             `cargo run --release -p bench -- instructions --record` (the ceilings are of {rustc})"
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceilings(name: &str, ratio: f64) -> Ceilings {
        let toml = format!(
            "rustc = \"any\"\n[[path]]\nname = {name:?}\nratio = {ratio}\ninstructions = 0\ncontrol = 0\n"
        );
        toml::from_str(&toml).expect("the text is a file of ceilings")
    }

    fn counts(ratio: f64) -> Counts {
        let count = |path: &str, server: &str, instructions: f64| serde_json::json!({"path": path, "server": server, "instructions": instructions});
        let all = PATHS.iter().flat_map(|path| {
            [
                count(path.name, "control", 100.0),
                count(path.name, "turnbuckle", 100.0 * ratio),
            ]
        });
        serde_json::from_value(all.collect()).expect("these are counts")
    }

    #[test]
    fn a_path_above_its_ceiling_fails_and_is_named() {
        let mut ceilings = ceilings(PATHS[0].name, 1.2);
        for path in &PATHS[1..] {
            ceilings.path.push(Ceiling {
                name: path.name.to_owned(),
                ratio: 2.0,
                instructions: 0.0,
                control: 0.0,
            });
        }
        assert!(ceilings.check(&counts(1.23)).is_ok());
        let error = ceilings
            .check(&counts(1.24))
            .expect_err("3.3 % are too much");
        assert!(
            error
                .to_string()
                .starts_with(&format!("`{}` costs 3.3 %", PATHS[0].name))
        );
    }

    #[test]
    fn the_recorded_ceilings_are_for_all_paths() {
        let recorded = Ceilings::open().expect("the file can be read");
        let names: Vec<_> = recorded.path.iter().map(|it| &*it.name).collect();
        assert_eq!(names, PATHS.map(|it| it.name));
    }
}
