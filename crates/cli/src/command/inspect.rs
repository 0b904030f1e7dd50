//! `turnbuckle inspect`: serves the inspector page.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use turnbuckle::client::Roots;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    target::{self, ServerArguments},
};
use turnbuckle_inspector::{Inspector, Origin, Site};

use super::handoff::Handoff;

use crate::{
    runtime::{self, stop_signal},
    show::print,
};

/// Look at servers in the browser: call, read, answer, and see every message.
///
/// Opens a page on this machine that is connected to the servers named: URLs, names from config
/// files, or a command after `--`. All servers of the config files are listed beside them; a click
/// connects. The connections live in this process and end with it. The page can only be opened on
/// this machine, with the URL that contains its key.
#[derive(Args)]
pub(crate) struct Inspect {
    /// The servers to connect to.
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,

    /// Print the URL and open no browser.
    #[arg(long)]
    no_open: bool,

    /// Listen at this port of 127.0.0.1; otherwise 7251, or any other if that is taken.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// Let servers work in this folder (may be repeated). The page shows and changes the list.
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,

    /// Restart the programs that are servers when a file at this path changes (may be repeated).
    #[arg(long, value_name = "PATH")]
    watch: Vec<PathBuf>,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(inspect: &Inspect) -> Outcome {
    let runtime = runtime::build(&mut tokio::runtime::Builder::new_multi_thread())?;
    let outcome = runtime.block_on(inspect.serve());
    // The command is done, but a name lookup may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

impl Inspect {
    async fn serve(&self) -> Outcome {
        // Signals are handled from the start, so that the command can also be stopped while it starts.
        let stop = stop_signal();
        let inspector = Inspector::new(self.server.options.clone());
        let site = Site::open(inspector.clone(), self.port).await;
        let site = site.map_err(|error| Failed::new(Code::Connect, error))?;
        let roots = Roots::folders(&self.roots).map_err(Failed::usage)?;
        inspector.share_roots(roots.list());
        self.add_servers(&inspector)?;
        if !self.watch.is_empty() {
            if let Some(gone) = self.watch.iter().find(|path| !path.exists()) {
                let said = format!("cannot watch `{}`: it does not exist", gone.display());
                return Err(Failed::usage(said));
            }
            inspector.watch(self.watch.clone());
        }
        let url = site.url();
        print(&url);
        // The file is kept until the end: a browser may take its time.
        let handoff = if self.no_open {
            None
        } else {
            Handoff::open(&url)
        };
        if !self.no_open && handoff.is_none() {
            tell("open this URL in a browser; press Ctrl-C to stop the inspector");
        }
        site.serve(stop).await;
        Ok(())
    }

    /// Adds the named servers and connects to them; then adds those of the config files.
    fn add_servers(&self, inspector: &std::sync::Arc<Inspector>) -> Outcome {
        let mut connected = Vec::new();
        if !self.server.command.is_empty() {
            let (server, _) = self.server.split(&[])?;
            connected.push(inspector.add(server, Origin::given("Command line"))?);
        }
        for word in &self.servers {
            if !word.contains("://")
                && let Some(id) = inspector.add_named(word)?
            {
                connected.push(id);
                continue;
            }
            let server = target::find(word, self.server.options.lookup())?;
            let origin = if word.contains("://") {
                Origin::given("Command line")
            } else {
                Origin::configured("Config file", word)
            };
            connected.push(inspector.add(server, origin)?);
        }
        inspector.read_config()?;
        for id in connected {
            inspector.connect(&id);
        }
        Ok(())
    }
}
