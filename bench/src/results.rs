//! The results of one comparison as a file, from which all output is made.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    asks::Asks,
    building::Building,
    clients::ClientCost,
    gateway::results::Gateways,
    growth::Growth,
    idle::Idle,
    instructions::Counts,
    listeners::Listeners,
    peers::{root, said, target},
    profile::Profile,
    speed::{Extent, Speed},
    startup::Startup,
};

#[derive(Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) date: String,
    /// The command that was run.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    pub(crate) speed: Speed,
    pub(crate) asks: Vec<Asks>,
    pub(crate) idle: Vec<Idle>,
    /// From a full comparison, or from `bench listeners`.
    pub(crate) listeners: Option<Listeners>,
    pub(crate) startup: Vec<Startup>,
    pub(crate) instructions: Counts,
    pub(crate) clients: Vec<ClientCost>,
    pub(crate) building: Vec<Building>,
    /// From a full comparison, or from `bench growth`.
    pub(crate) growth: Vec<Growth>,
    /// From a full comparison, or from `bench profile`.
    pub(crate) profiles: Vec<Profile>,
    /// From `bench gateway`.
    #[serde(default)]
    pub(crate) gateways: Option<Gateways>,
}

/// The machine that the comparison ran on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gb: f64,
    pub(crate) system: String,
    pub(crate) rustc: String,
    pub(crate) node: String,
    pub(crate) python: String,
    /// The load average of one minute, before the comparison began.
    pub(crate) load: String,
}

impl Machine {
    pub(crate) fn look() -> Result<Self> {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|it| it.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kilobytes: f64 = memory.trim_end_matches(" kB").parse().unwrap_or(f64::NAN);
        let processors = read("/proc/cpuinfo");
        let cores = processors
            .lines()
            .filter(|it| it.starts_with("processor"))
            .count();
        Ok(Self {
            processor: field(&processors, "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores,
            memory_gb: kilobytes / 1e6,
            system: said("uname", &["-sr"])?,
            rustc: said("rustc", &["--version"])?,
            node: said("node", &["--version"])?,
            python: said("python3", &["--version"])?,
            load: read("/proc/loadavg")
                .split(' ')
                .next()
                .unwrap_or_default()
                .to_owned(),
        })
    }
}

/// The path of the file. The results for the documentation are part of the repository; those of a quick
/// comparison are not.
pub(crate) fn file(extent: Extent) -> PathBuf {
    match extent {
        Extent::Quick => target().join("bench-quick.json"),
        Extent::Full => root().join("bench/results.json"),
    }
}

impl Results {
    pub(crate) fn open(extent: Extent) -> Result<Self> {
        let text = std::fs::read_to_string(file(extent))
            .map_err(|error| format!("there are no results; run `bench compare`: {error}"))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Changes the results for the documentation, if the file exists.
    pub(crate) fn update(change: impl FnOnce(&mut Self)) -> Result<()> {
        if !file(Extent::Full).exists() {
            return Ok(());
        }
        let mut results = Self::open(Extent::Full)?;
        change(&mut results);
        results.save(Extent::Full)
    }

    pub(crate) fn save(&self, extent: Extent) -> Result<()> {
        Ok(std::fs::write(
            file(extent),
            serde_json::to_string(self)? + "\n",
        )?)
    }
}
