//! `turnbuckle inspect`: the page, connected.

use std::time::Duration;

use clap::Args;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    target::{self, ServerArguments},
    trust,
};
use turnbuckle_host::config::PlaceOwner;
use turnbuckle_inspector::{Inspector, Origin, Site};

use super::handoff::Handoff;

use crate::{runtime::stop_signal, show::print};

/// Look at servers in the browser: call, read, answer, and see every message.
///
/// Opens a page on this machine that is connected to the servers named: URLs, names from config
/// files, or a command after `--`. Without any, all servers of the config files are listed, to be
/// connected to by a click. The connections live in this process and end with it; the page is for
/// this machine alone, and for whoever has the URL with its key.
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

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(inspect: &Inspect) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failed::new(Code::Connect, error))?;
    let outcome = runtime.block_on(inspect.serve());
    // Nothing is left that somebody waits for: a lookup of a name may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

impl Inspect {
    async fn serve(&self) -> Outcome {
        // Heard from the start: whoever stops it while it begins is not overheard.
        let stop = stop_signal();
        let inspector = Inspector::new(self.server.options.clone());
        let site = Site::open(inspector.clone(), self.port).await;
        let site = site.map_err(|error| Failed::new(Code::Connect, error))?;
        self.add_servers(&inspector)?;
        let url = site.url();
        print(&url);
        // It is there until the end: a browser may take its time.
        let handoff = if self.no_open {
            None
        } else {
            Handoff::open(&url)
        };
        if !self.no_open && handoff.is_none() {
            eprintln!("open this URL in a browser; Ctrl-C ends the inspector");
        }
        site.serve(stop).await;
        Ok(())
    }

    /// Adds what was named, and connects; without a name, adds what the config files have.
    fn add_servers(&self, inspector: &std::sync::Arc<Inspector>) -> Outcome {
        let mut connected = Vec::new();
        if !self.server.command.is_empty() {
            let (server, _) = self.server.split(&[])?;
            connected.push(inspector.add(server, Origin::given("command line"))?);
        }
        for word in &self.servers {
            let server = target::find(word, self.server.options.lookup())?;
            let origin = if word.contains("://") {
                Origin::given("command line")
            } else {
                Origin::configured("config file", word)
            };
            connected.push(inspector.add(server, origin)?);
        }
        if connected.is_empty() {
            return self.add_configured(inspector);
        }
        for id in connected {
            inspector.connect(&id);
        }
        Ok(())
    }

    fn add_configured(&self, inspector: &Inspector) -> Outcome {
        let config = self.server.options.config.as_ref();
        let (catalogue, strange) = target::catalogue(config)?;
        for place in &strange {
            tell(&target::somebody_elses(&place.path));
        }
        let consent = self.server.options.lookup().consent;
        let mut refused = Vec::new();
        for (place, _) in &catalogue.files {
            if place.owner == PlaceOwner::Project
                && let Err(failed) = trust::check(&place.path, consent)
            {
                tell(&format!("its servers are left out: {}", failed.said()));
                refused.push(&place.path);
            }
        }
        let mut known = Vec::new();
        let enabled = catalogue.entries().filter(|(_, entry)| entry.is_enabled);
        for (_, entry) in enabled.filter(|(place, _)| !refused.contains(&&place.path)) {
            // The nearest of those with the same name is the one that the name means.
            if known.contains(&entry.name) {
                continue;
            }
            match target::configured(entry, &entry.name, config) {
                Ok(server) => {
                    known.push(entry.name.clone());
                    let file = entry.file.display().to_string();
                    inspector.add(server, Origin::configured(file, &entry.name))?;
                }
                Err(error) => tell(&format!("server `{}` is left out: {error}", entry.name)),
            }
        }
        Ok(())
    }
}
