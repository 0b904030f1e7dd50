//! `turnbuckle serve`: the built-in demo server.

use std::{error::Error, net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use turnbuckle::{Http, HttpSettings, Revision, Server, Stdio};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    target::{self, Lookup, Options},
};
use turnbuckle_inspector::{Inspector, Origin, Site};

use crate::{
    demo, listen,
    replicas::Replicas,
    runtime::{self, stop_signal},
};

/// Serve the built-in demo server: tools, resources and prompts of every kind.
///
/// Point a client at it to see what the client can do: every content kind, progress, cancellation,
/// structured results, errors, templates, completion, elicitation, sampling, log messages, a task,
/// and a list and a resource that change. One address serves every revision; the revision is read
/// from each request. The page of `turnbuckle inspect` is served beside the endpoint, connected to
/// this server; it opens only with the URL that contains its key.
#[derive(Args)]
pub(crate) struct Serve {
    /// Speak over stdin and stdout, one message a line.
    #[arg(long, conflicts_with_all = ["listen", "unix"])]
    stdio: bool,

    /// Listen for HTTP at this address. Port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7250")]
    listen: String,

    /// Listen for HTTP at a unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    unix: Option<PathBuf>,

    /// Accept requests for this host name, besides loopback (may be repeated).
    #[arg(long, value_name = "HOST", value_parser = listen::host)]
    allow_host: Vec<String>,

    /// Accept requests from web pages of this origin, besides loopback (may be repeated).
    #[arg(long, value_name = "ORIGIN", value_parser = listen::origin)]
    allow_origin: Vec<String>,

    /// Do not serve the inspector page. It is served on loopback only.
    #[arg(long, conflicts_with_all = ["stdio", "unix"])]
    no_page: bool,

    /// Send CORS headers for the origins of `--allow-origin` and of loopback.
    #[arg(long, conflicts_with = "stdio")]
    cors: bool,

    #[command(flatten)]
    replicas: Replicas,
}

pub(crate) fn run(serve: &Serve) -> Outcome {
    let runtime = runtime::build(&mut tokio::runtime::Builder::new_multi_thread())?;
    let outcome = runtime.block_on(async {
        let server = demo::server();
        let shared = if serve.stdio {
            None
        } else {
            serve.replicas.open().await?
        };
        let server = match shared {
            Some(shared) => shared.of(server),
            None => server,
        };
        serve_demo(serve, server).await
    });
    // A lookup of the name of Redis may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failed {
    Failed::new(Code::Connect, error)
}

async fn serve_demo(serve: &Serve, server: Server) -> Outcome {
    if serve.stdio {
        // SIGTERM is handled even though its default would end the program: the first process of a container only
        // gets signals that it handles.
        let live = server.build().map_err(failed)?;
        let served = tokio::select! {
            ended = live.serve(Stdio) => ended,
            () = stop_signal() => Ok(()),
        };
        // Clients are told that running tasks end.
        live.shutdown().await;
        return served.map_err(failed);
    }
    match &serve.unix {
        Some(path) => {
            let place = path.display().to_string();
            let http = Http::unix(path).announce(move |_| announce_socket(&place));
            let http = http.settings(serve.settings());
            server
                .serve(http.until(stop_signal()))
                .await
                .map_err(failed)
        }
        None => serve_address(serve, server).await,
    }
}

impl Serve {
    fn settings(&self) -> HttpSettings {
        let settings = HttpSettings::default();
        let settings = if self.cors { settings.cors() } else { settings };
        let hosts = self.allow_host.iter();
        let settings = hosts.fold(settings, HttpSettings::allow_host);
        let origins = self.allow_origin.iter();
        origins.fold(settings, HttpSettings::allow_origin)
    }
}

/// Serves at an address, with the inspector page if only this machine can reach it.
async fn serve_address(serve: &Serve, server: Server) -> Outcome {
    // Registered first, so that a signal during the start is not missed.
    let stop = stop_signal();
    let listener = listen::bind(&serve.listen).await?;
    let address = listener.local_address();
    let local =
        address.filter(|address| address.ip().to_canonical().is_loopback() && !serve.no_page);
    let Some(local) = local else {
        announce_address(address, None);
        let http = Http::listener(listener).settings(serve.settings());
        return server.serve(http.until(stop)).await.map_err(failed);
    };
    let live = server.build().map_err(failed)?;
    let inspector = Inspector::new(Options::default());
    let url = format!("http://{local}/mcp");
    let mut own = target::find(&url, Lookup::default())?;
    "demo".clone_into(&mut own.name);
    let origin = Origin::given("command line");
    let id = inspector.add(own, origin)?;
    inspector.connect_when_looked_at(id);
    live.ready().await;
    let service = live.http_with(serve.settings());
    let site = Site::beside(inspector, listener, service).await;
    let site = site.map_err(failed)?;
    announce_address(address, Some(&site.url()));
    site.serve(stop).await;
    // Clients are told that running tasks end, and the other replicas that this one has left.
    live.shutdown().await;
    Ok(())
}

fn announce_address(address: Option<SocketAddr>, page: Option<&str>) {
    let Some(address) = address else { return };
    tell("turnbuckle demo server, every revision at one address:");
    let streamable = format!("Streamable HTTP, 2025-03-26 to {}", Revision::LATEST);
    for (path, what) in [
        ("/mcp", streamable.as_str()),
        ("/sse", "HTTP+SSE, 2024-11-05"),
        ("/mcp/server-card", "the server card"),
        ("/healthz", "the health check"),
    ] {
        tell(&format!("  http://{address}{path:16}  {what}"));
    }
    if let Some(page) = page {
        tell(&format!("inspector (this machine only): {page}"));
    }
    tell("Press Ctrl-C to stop.");
}

fn announce_socket(path: &str) {
    tell(&format!(
        "turnbuckle demo server at the unix socket {path}, endpoint /mcp. Press Ctrl-C to stop."
    ));
}
