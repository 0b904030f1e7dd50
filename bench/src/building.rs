//! Building: how long the smallest stdio server takes from nothing, and of how many crates it is.

use std::{collections::BTreeSet, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    peers::{always_build, root, said, target},
    speed::Extent,
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Building {
    pub(crate) server: String,
    pub(crate) crates: usize,
    /// Seconds on all cores, for a release build with the settings of the comparison.
    pub(crate) seconds: Option<f64>,
}

pub(crate) fn measure(extent: Extent) -> Result<Vec<Building>> {
    let rmcp = root().join("bench/peers/rmcp/Cargo.toml");
    let ours = root().join("Cargo.toml");
    let mut all = Vec::new();
    for (server, manifest, package) in [
        ("turnbuckle", ours, "bench-hello"),
        ("rmcp", rmcp, "rmcp-hello"),
    ] {
        let package = [
            "--manifest-path",
            &manifest.to_string_lossy(),
            "--package",
            package,
        ];
        let seconds = match extent {
            Extent::Quick => None,
            Extent::Full => Some(from_nothing(&package)?),
        };
        all.push(Building {
            server: server.to_owned(),
            crates: crates(&package)?,
            seconds,
        });
    }
    Ok(all)
}

/// Crates that are built, without the program itself.
fn crates(package: &[&str]) -> Result<usize> {
    let options = ["tree", "--edges", "normal,build", "--prefix", "none"];
    let tree = said("cargo", &[&options, package].concat())?;
    let crates: BTreeSet<_> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    Ok(crates.len() - 1)
}

fn from_nothing(package: &[&str]) -> Result<f64> {
    eprintln!("building {} from nothing", package[3]);
    let folder = target().join("bench-peers/from-nothing");
    let is_there = folder.exists();
    if is_there {
        std::fs::remove_dir_all(&folder)?;
    }
    let began = Instant::now();
    always_build(&[package, &["--target-dir", &folder.to_string_lossy()]].concat())?;
    let took = began.elapsed();
    std::fs::remove_dir_all(&folder)?;
    Ok(took.as_secs_f64())
}
