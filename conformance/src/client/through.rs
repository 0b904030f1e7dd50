//! The gateway between this client and the suite's server.
//!
//! `turnbuckle up` where nothing is protected. Tokens are got by a gateway of this process: the suite
//! gives what they are got with only to the program that it starts.

use std::{env, error::Error, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};
use turnbuckle::{
    Http,
    client::HttpTarget,
    gateway::{Gateway, LiveGateway, UpstreamSettings},
    host::ServerSpec,
};

use crate::{Order, authorization};

/// How long the gateway may take until it listens, and to end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How a gateway in front of a server is asked for on the command line.
pub(crate) const WORD: &str = "--through-gateway";

/// A gateway in front of the suite's server.
pub(crate) struct Between {
    /// Where it listens.
    pub(crate) url: String,
    running: Running,
}

enum Running {
    Program(Child),
    Own(LiveGateway, JoinHandle<()>),
}

impl Between {
    pub(crate) async fn start(order: &Order) -> Result<Self, Box<dyn Error>> {
        if order.scenario.starts_with("auth/") {
            Self::own(order).await
        } else {
            Self::program(order).await
        }
    }

    async fn program(order: &Order) -> Result<Self, Box<dyn Error>> {
        let era = if order.revision.is_modern() {
            "modern"
        } else {
            "legacy"
        };
        let mut child = Command::new(env::current_exe()?.with_file_name("turnbuckle"))
            .args(["up", "--era", era, "--listen", "127.0.0.1:0", "--no-page"])
            .arg(&order.url)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let said = child.stderr.take().ok_or("it has no stderr")?;
        let mut lines = BufReader::new(said).lines();
        let find = async {
            while let Some(line) = lines.next_line().await? {
                let word = line.split_whitespace().find(|it| it.ends_with("/mcp"));
                if let Some(url) = word {
                    return Ok::<_, Box<dyn Error>>(url.to_owned());
                }
                eprintln!("{line}");
            }
            Err("`turnbuckle up` ended before it listened".into())
        };
        let url = timeout(TIMEOUT, find).await??;
        // What it says of its server later goes to the log of this client.
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                eprintln!("{line}");
            }
        });
        Ok(Self {
            url,
            running: Running::Program(child),
        })
    }

    async fn own(order: &Order) -> Result<Self, Box<dyn Error>> {
        let target = HttpTarget::new(order.url.as_str()).authorize(authorization::oauth(order)?);
        let gateway = Gateway::new("turnbuckle-conformance", env!("CARGO_PKG_VERSION"))
            .server_with(
                "server",
                ServerSpec::from_fn(move || target.clone().into()),
                UpstreamSettings::new().revision(order.revision),
            )
            .open()?;
        let (told, listens) = oneshot::channel();
        let told = std::sync::Mutex::new(Some(told));
        let http = Http::bind("127.0.0.1:0").announce(move |address| {
            let told = told.lock().ok().and_then(|mut told| told.take());
            if let (Some(told), Some(address)) = (told, address) {
                let _ = told.send(address);
            }
        });
        let server = gateway.server().clone();
        let serving = tokio::spawn(async move {
            if let Err(error) = server.serve(http).await {
                eprintln!("the gateway ended: {error}");
            }
        });
        let address = timeout(TIMEOUT, listens).await??;
        Ok(Self {
            url: format!("http://{address}/mcp"),
            running: Running::Own(gateway, serving),
        })
    }

    /// Ends it, and its sessions with the server.
    pub(crate) async fn end(self) -> Result<(), Box<dyn Error>> {
        match self.running {
            Running::Program(mut child) => {
                if let Some(pid) = child.id() {
                    let pid = pid.to_string();
                    Command::new("kill").args(["-TERM", &pid]).status().await?;
                }
                let status = timeout(TIMEOUT, child.wait()).await??;
                if !status.success() {
                    return Err(format!("`turnbuckle up` ended with {status}").into());
                }
            }
            Running::Own(gateway, serving) => {
                timeout(TIMEOUT, gateway.close()).await?;
                serving.abort();
            }
        }
        Ok(())
    }
}
