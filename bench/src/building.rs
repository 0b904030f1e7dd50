//! Building: the cost of building the smallest stdio server from scratch, and the number of its
//! crates.

use std::{collections::BTreeSet, fs, path::Path, process::Command, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    peers::{always_build, root, run, said, target},
    report::page,
    results::Results,
    speed::Extent,
};

/// The number of jobs of a debug build, so that the figures are comparable between machines.
const JOBS: &str = "2";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Building {
    pub(crate) server: String,
    pub(crate) crates: usize,
    /// Seconds of a release build on all cores, with the settings of the comparison.
    pub(crate) seconds: Option<f64>,
    /// Seconds of CPU time, user and system, of a debug build with cargo's default settings.
    #[serde(default)]
    pub(crate) debug_cpu_seconds: Option<f64>,
}

/// A server with one typed tool, in its own workspace.
struct Hello {
    server: &'static str,
    workspace: &'static str,
    package: &'static str,
}

const HELLOS: [Hello; 2] = [
    Hello {
        server: "turnbuckle",
        workspace: "",
        package: "bench-hello",
    },
    Hello {
        server: "rmcp",
        workspace: "bench/peers/rmcp",
        package: "rmcp-hello",
    },
];

/// Measures crates and debug builds again, and updates the page.
pub(crate) fn command() -> Result<()> {
    let mut all = Vec::new();
    for hello in HELLOS {
        let crates = hello.crates()?;
        let seconds = hello.debug_from_nothing()?;
        println!("{}: {crates} crates, {seconds:.1} s of CPU", hello.server);
        all.push((hello.server, crates, seconds));
    }
    Results::update(|results| {
        for (server, crates, seconds) in all {
            let mut known = results.building.iter_mut();
            if let Some(building) = known.find(|it| it.server == server) {
                if building.crates != crates {
                    // The release build was measured with other crates.
                    building.seconds = None;
                }
                building.crates = crates;
                building.debug_cpu_seconds = Some(seconds);
            }
        }
    })?;
    page::write(&Results::open(Extent::Full)?)
}

pub(crate) fn measure(extent: Extent) -> Result<Vec<Building>> {
    HELLOS.iter().map(|hello| hello.measure(extent)).collect()
}

impl Hello {
    fn measure(&self, extent: Extent) -> Result<Building> {
        let (seconds, debug_cpu_seconds) = match extent {
            Extent::Quick => (None, None),
            Extent::Full => (
                Some(self.release_from_nothing()?),
                Some(self.debug_from_nothing()?),
            ),
        };
        Ok(Building {
            server: self.server.to_owned(),
            crates: self.crates()?,
            seconds,
            debug_cpu_seconds,
        })
    }

    fn manifest(&self) -> String {
        let folder = root().join(self.workspace);
        folder.join("Cargo.toml").to_string_lossy().into_owned()
    }

    /// The number of crates that are built, without the program itself.
    fn crates(&self) -> Result<usize> {
        let manifest = self.manifest();
        let options = ["tree", "--edges", "normal,build", "--prefix", "none"];
        let package = ["--manifest-path", &manifest, "--package", self.package];
        let tree = said("cargo", &[&options[..], &package].concat())?;
        let crates: BTreeSet<_> = tree
            .lines()
            .map(|line| line.trim_end_matches(" (*)"))
            .collect();
        Ok(crates.len() - 1)
    }

    fn release_from_nothing(&self) -> Result<f64> {
        eprintln!("building {} from nothing", self.package);
        let manifest = self.manifest();
        let package = ["--manifest-path", &manifest, "--package", self.package];
        in_empty_folder(|folder| {
            let began = Instant::now();
            let folder = folder.to_string_lossy();
            always_build(&[&package[..], &["--target-dir", &folder]].concat())?;
            Ok(began.elapsed().as_secs_f64())
        })
    }

    /// Builds like a project of its own would: with cargo's default settings of the profile `dev`, and
    /// without anything from an earlier build.
    fn debug_from_nothing(&self) -> Result<f64> {
        eprintln!("building {} from nothing, for debugging", self.package);
        in_empty_folder(|folder| {
            let mut command = Command::new("cargo");
            command
                .args(["build", "--quiet", "--jobs", JOBS])
                .args(["--config", "profile.dev.debug=true"])
                .args(["--config", "profile.dev.package.'*'.debug=true"])
                .args(["--manifest-path", &self.manifest()])
                .args(["--package", self.package, "--target-dir"])
                .arg(folder)
                .env("CARGO_INCREMENTAL", "0")
                .env_remove("RUSTFLAGS")
                .current_dir(root());
            let before = cpu_of_children()?;
            run(&mut command)?;
            Ok(cpu_of_children()? - before)
        })
    }
}

fn in_empty_folder(build: impl FnOnce(&Path) -> Result<f64>) -> Result<f64> {
    let folder = target().join("bench-peers/from-nothing");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let took = build(&folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(took)
}

/// The CPU seconds of this process's descendants, as far as they have ended.
fn cpu_of_children() -> Result<f64> {
    let ticks: f64 = said("getconf", &["CLK_TCK"])?.parse()?;
    let text = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = text.rsplit_once(')').ok_or("/proc/self/stat is odd")?;
    // proc_pid_stat(5): `cutime` and `cstime` are fields 16 and 17, and `rest` begins with field 3.
    let mut used = 0.0;
    for field in rest.split_whitespace().skip(13).take(2) {
        used += field.parse::<f64>()?;
    }
    Ok(used / ticks)
}
