//! The compared servers: how each is built and started.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Result;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// The same bytes without implementing the protocol.
    Control,
    Turnbuckle,
    Rmcp,
    Node,
    Python,
}

impl Peer {
    pub(crate) const ALL: [Self; 5] = [
        Self::Control,
        Self::Turnbuckle,
        Self::Rmcp,
        Self::Node,
        Self::Python,
    ];

    /// The servers whose instructions can be counted: the others compile while they run.
    pub(crate) const NATIVE: [Self; 3] = [Self::Control, Self::Turnbuckle, Self::Rmcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Turnbuckle => "turnbuckle",
            Self::Rmcp => "rmcp",
            Self::Node => "typescript",
            Self::Python => "python",
        }
    }

    /// The command of the server over stdio.
    pub(crate) fn stdio(self) -> Vec<String> {
        let mut command = self.command();
        command.push("stdio".to_owned());
        command
    }

    /// The command of the server over HTTP, at `{PORT}`.
    pub(crate) fn http(self) -> Vec<String> {
        let mut command = self.command();
        command.extend(["http".to_owned(), "{PORT}".to_owned()]);
        command
    }

    fn command(self) -> Vec<String> {
        let sources = root().join("bench/peers");
        let parts = match self {
            Self::Turnbuckle => vec![own("bench-server")],
            Self::Control => vec![built("control", "control")],
            Self::Rmcp => vec![built("rmcp", "rmcp-server")],
            Self::Node => vec!["node".into(), sources.join("node/server.mjs")],
            Self::Python => vec![python(), sources.join("python/server.py")],
        };
        parts
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect()
    }

    /// Builds or installs the server, if necessary.
    pub(crate) fn prepare(self) -> Result<()> {
        eprintln!("preparing {}", self.name());
        match self {
            Self::Turnbuckle => build_own("bench-server", "server"),
            Self::Control => build("control", "control"),
            Self::Rmcp => build("rmcp", "rmcp-server"),
            Self::Node => install_node(),
            Self::Python => install_python(),
        }
    }
}

/// The profile of measured programs, the same in each workspace. `release` builds faster.
const PROFILE: &str = "measured";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

pub(crate) fn target() -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR");
    folder.map_or_else(|| root().join("target"), PathBuf::from)
}

/// A program of this package.
pub(crate) fn own(program: &str) -> PathBuf {
    target().join(PROFILE).join(program)
}

/// A program of a peer.
pub(crate) fn built(workspace: &str, program: &str) -> PathBuf {
    target()
        .join("bench-peers")
        .join(workspace)
        .join(PROFILE)
        .join(program)
}

/// Builds a program in its own workspace.
pub(crate) fn build(workspace: &str, program: &str) -> Result<()> {
    let manifest = root()
        .join("bench/peers")
        .join(workspace)
        .join("Cargo.toml");
    let folder = target().join("bench-peers").join(workspace);
    let (manifest, folder) = (manifest.to_string_lossy(), folder.to_string_lossy());
    cargo_build(&[
        "--locked",
        "--manifest-path",
        &manifest,
        "--target-dir",
        &folder,
        "--package",
        program,
    ])
}

/// Builds a program of this package with the feature that it needs. Programs with features take long to build.
pub(crate) fn build_own(program: &str, feature: &str) -> Result<()> {
    let only = ["--no-default-features", "--features", feature];
    cargo_build(&[&["--package", "bench", "--bin", program], &only[..]].concat())
}

/// Builds what is measured. With `NO_BUILD` in the environment, the existing build is measured.
pub(crate) fn cargo_build(arguments: &[&str]) -> Result<()> {
    if std::env::var_os("NO_BUILD").is_some() {
        return Ok(());
    }
    always_build(arguments)
}

/// Runs a build that is itself the measurement.
pub(crate) fn always_build(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--profile", PROFILE, "--quiet"])
        .args(arguments)
        .current_dir(root());
    // Symbols for `profile` are set in the profile of each workspace; nothing else may change the flags.
    run(command.env_remove("RUSTFLAGS"))
}

fn install_node() -> Result<()> {
    let folder = root().join("bench/peers/node");
    let made = folder.join("node_modules/.package-lock.json");
    if is_newer(&made, &folder.join("package-lock.json")) {
        return Ok(());
    }
    let quiet = [
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ];
    run(Command::new("npm")
        .arg("ci")
        .args(quiet)
        .current_dir(&folder))?;
    run(Command::new("touch").arg(made))
}

fn python() -> PathBuf {
    target().join("bench-peers/python/bin/python")
}

fn install_python() -> Result<()> {
    let wanted = root().join("bench/peers/python/requirements.txt");
    let folder = target().join("bench-peers/python");
    let done = folder.join("installed");
    if is_newer(&done, &wanted) {
        return Ok(());
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--requirement"];
    run(Command::new(python()).args(pip).arg(wanted))?;
    run(Command::new("touch").arg(done))
}

pub(crate) fn is_newer(made: &Path, than: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|it| it.modified());
    matches!((time(made), time(than)), (Ok(made), Ok(than)) if made >= than)
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| format!("{command:?} does not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}

/// The output of a command, trimmed.
pub(crate) fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output();
    let output = output.map_err(|error| format!("`{program}` does not start: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{program}` failed: {error}").into())
    }
}
