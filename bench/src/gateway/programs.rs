//! The compared gateways: how each is installed and started.

use std::{path::PathBuf, process::Command};

use super::link::{Behind, Cell, Link, word};
use crate::{
    Result,
    load::Front,
    peers::{cargo_build, is_newer, own, root, run, target},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    /// Copies bytes.
    Forwarder,
    /// Our gateway as a library, on one thread.
    Library,
    /// `turnbuckle up`.
    Up,
    McpProxyRust,
    FastMcp,
    McpProxyPython,
    Supergateway,
    McpRemote,
}

/// The published version of the gateway in Rust.
const MCP_PROXY_RUST: &str = "0.6.0";

impl Program {
    /// The gateways that are timed.
    pub(crate) const TIMED: [Self; 8] = [
        Self::Forwarder,
        Self::Up,
        Self::Library,
        Self::McpProxyRust,
        Self::FastMcp,
        Self::McpProxyPython,
        Self::Supergateway,
        Self::McpRemote,
    ];

    /// The gateways whose instructions can be counted.
    pub(crate) const COUNTED: [Self; 3] = [Self::Library, Self::Up, Self::McpProxyRust];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forwarder => "a TCP forwarder",
            Self::Library => "turnbuckle, as a library",
            Self::Up => "turnbuckle up",
            Self::McpProxyRust => "mcp-proxy (crates.io)",
            Self::FastMcp => "fastmcp (PyPI)",
            Self::McpProxyPython => "mcp-proxy (PyPI)",
            Self::Supergateway => "supergateway (npm)",
            Self::McpRemote => "mcp-remote (npm)",
        }
    }

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::Library | Self::Up)
    }

    /// Whether it is a third-party gateway.
    pub(crate) fn is_peer(self) -> bool {
        !self.is_ours() && self != Self::Forwarder
    }

    /// Whether it is compiled while it runs, or interpreted.
    pub(crate) fn is_interpreted(self) -> bool {
        self.is_peer() && self != Self::McpProxyRust
    }

    pub(crate) fn links(self) -> &'static [Link] {
        match self {
            Self::Forwarder => &[Link::HttpToHttp],
            Self::Up | Self::FastMcp => &Link::ALL,
            Self::Library | Self::McpProxyRust => &[Link::HttpToHttp, Link::HttpToStdio],
            Self::McpProxyPython | Self::Supergateway => &[Link::HttpToStdio, Link::StdioToHttp],
            Self::McpRemote => &[Link::StdioToHttp],
        }
    }

    /// The combinations of eras to try. If a gateway rejects one, its answer is reported.
    pub(crate) fn cells(self) -> &'static [Cell] {
        if self.is_ours() {
            &Cell::FOUR
        } else {
            &Cell::TWO
        }
    }

    /// Its path and the prefix of its tools.
    pub(crate) fn front(self) -> Front {
        let prefix = if self == Self::McpProxyRust {
            "up_"
        } else {
            ""
        };
        Front {
            prefix,
            ..Front::USUAL
        }
    }

    /// The command for a link. `port` is the port that it listens at, if it listens.
    pub(crate) fn command(
        self,
        link: Link,
        cell: Cell,
        behind: &Behind,
        port: u16,
    ) -> Result<Vec<String>> {
        let (url, stdio) = (behind.url(), &behind.stdio);
        let port = port.to_string();
        let listen = format!("127.0.0.1:{port}");
        let mut words: Vec<String> = Vec::new();
        let mut say = |more: &[&str]| words.extend(more.iter().map(|it| (*it).to_owned()));
        let is_stdio_behind = link == Link::HttpToStdio;
        let server: Vec<_> = if is_stdio_behind {
            stdio.iter().map(String::as_str).collect()
        } else {
            vec![&url]
        };
        match self {
            Self::Forwarder => {
                let this = std::env::current_exe()?;
                let to = behind.address.to_string();
                say(&[&this.to_string_lossy(), "forward", &port, &to]);
            }
            Self::Library => {
                let era = cell.behind.map_or("modern", word);
                say(&[&own("bench-gateway").to_string_lossy(), &port, era]);
                say(&server);
            }
            Self::Up => {
                let era = cell.behind.map_or("auto", word);
                say(&[&own("turnbuckle").to_string_lossy(), "up", "--era", era]);
                match link {
                    Link::StdioToHttp => say(&["--stdio"]),
                    Link::HttpToHttp | Link::HttpToStdio => say(&["--listen", &listen]),
                }
                say(if is_stdio_behind { &["--"] } else { &[] });
                say(&server);
            }
            Self::McpProxyRust => {
                let config = config_of_mcp_proxy(&port, &server)?;
                let program = rust_folder().join("bin/mcp-proxy");
                say(&[
                    &program.to_string_lossy(),
                    "--config",
                    &config.to_string_lossy(),
                ]);
            }
            Self::FastMcp => {
                let script = sources().join("fastmcp_proxy.py");
                let front = if link == Link::StdioToHttp {
                    "stdio"
                } else {
                    &port
                };
                let python = venv("fastmcp").join("bin/python");
                say(&[&python.to_string_lossy(), &script.to_string_lossy(), front]);
                say(&server);
            }
            Self::McpProxyPython => {
                let program = venv("mcp-proxy").join("bin/mcp-proxy");
                say(&[&program.to_string_lossy(), "--log-level", "ERROR"]);
                if is_stdio_behind {
                    say(&["--host", "127.0.0.1", "--port", &port, "--"]);
                } else {
                    say(&["--transport", "streamablehttp"]);
                }
                say(&server);
            }
            Self::Supergateway => {
                say(&[
                    "node",
                    &npm("supergateway").to_string_lossy(),
                    "--logLevel",
                    "none",
                ]);
                if is_stdio_behind {
                    let output = ["--stateful", "--outputTransport", "streamableHttp"];
                    say(&output);
                    say(&["--port", &port, "--stdio", &server.join(" ")]);
                } else {
                    say(&["--streamableHttp", &url]);
                }
            }
            Self::McpRemote => {
                let program = npm("mcp-remote");
                say(&[
                    "node",
                    &program.to_string_lossy(),
                    &url,
                    "--transport",
                    "http-only",
                ]);
            }
        }
        Ok(words)
    }

    /// Builds or installs it, if necessary.
    pub(crate) fn prepare(self) -> Result<()> {
        eprintln!("preparing {}", self.name());
        match self {
            Self::Forwarder => Ok(()),
            Self::Library => cargo_build(&["--package", "bench", "--bin", "bench-gateway"]),
            Self::Up => cargo_build(&["--package", "turnbuckle-cli"]),
            Self::McpProxyRust => install_rust(),
            Self::FastMcp => install_python("fastmcp"),
            Self::McpProxyPython => install_python("mcp-proxy"),
            Self::Supergateway | Self::McpRemote => install_npm(),
        }
    }
}

fn sources() -> PathBuf {
    root().join("bench/peers/gateways")
}

fn rust_folder() -> PathBuf {
    target().join("bench-peers/mcp-proxy")
}

fn venv(name: &str) -> PathBuf {
    target().join("bench-peers").join(format!("venv-{name}"))
}

fn npm(program: &str) -> PathBuf {
    sources().join("node_modules/.bin").join(program)
}

/// The settings of mcp-proxy are in a file, including the port.
fn config_of_mcp_proxy(port: &str, server: &[&str]) -> Result<PathBuf> {
    let behind = match server {
        [url] => format!("transport = \"http\"\nurl = {url:?}\n"),
        [program, rest @ ..] => {
            format!("transport = \"stdio\"\ncommand = {program:?}\nargs = {rest:?}\n")
        }
        [] => return Err("there is no server behind the gateway".into()),
    };
    let text = format!(
        "[proxy]\nname = \"gateway\"\nseparator = \"_\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
         [[backends]]\nname = \"up\"\n{behind}[observability]\nlog_level = \"error\"\n"
    );
    let folder = target().join("tmp");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("mcp-proxy.{port}.toml"));
    std::fs::write(&file, text)?;
    Ok(file)
}

/// Installs with its own lock file, and without metrics and similar features, which would cost it requests.
fn install_rust() -> Result<()> {
    if rust_folder().join("bin/mcp-proxy").exists() {
        return Ok(());
    }
    if std::env::var_os("NO_BUILD").is_some() {
        return Err("it is not built, and NO_BUILD is set".into());
    }
    let package = format!("mcp-proxy@{MCP_PROXY_RUST}");
    let features = ["--no-default-features", "--features", "protocol-2026-07-28"];
    run(Command::new("cargo")
        .args(["install", "--quiet", "--locked", &package])
        .args(features)
        .arg("--root")
        .arg(rust_folder())
        .env("CARGO_TARGET_DIR", rust_folder().join("target"))
        .env_remove("RUSTFLAGS"))
}

fn install_python(name: &str) -> Result<()> {
    let wanted = sources().join(format!("{name}.txt"));
    let folder = venv(name);
    let done = folder.join("installed");
    if is_newer(&done, &wanted) {
        return Ok(());
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--requirement"];
    run(Command::new(folder.join("bin/python"))
        .args(pip)
        .arg(wanted))?;
    run(Command::new("touch").arg(done))
}

fn install_npm() -> Result<()> {
    let folder = sources();
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
