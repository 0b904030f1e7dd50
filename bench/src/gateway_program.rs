//! Our gateway in front of `bench-server`, with the same limits as `bench-server`.
//!
//! ```text
//! bench-gateway PORT legacy|modern URL
//! bench-gateway PORT legacy|modern COMMAND [ARGUMENT…]
//! bench-gateway PORT parked SERVERS URL
//! bench-gateway PORT parked SERVERS COMMAND [ARGUMENT…]
//! ```
//!
//! With `parked` it has this many legacy servers, all at that URL or with that command. The header `x-caller`
//! names the caller, because the limits of parked calls are per server and per caller.

use std::{error::Error, process::ExitCode, time::Duration};

use http::request::Parts;
use turnbuckle::{
    AuthDecision, Authorized, Caller, Http, HttpSettings, ListenerLimits, MemoryBudget, Protect,
    client::Era,
    gateway::{Gateway, UpstreamSettings},
    host::{
        ServerSpec,
        config::{Launch, Remote, Wire},
    },
    transport::http::Settings,
};

/// How many connections and sessions it accepts.
const MAX_CONNECTIONS: usize = 16_000;

/// How many bytes it may keep for them.
const MAX_KEPT: usize = 1024 * 1024 * 1024;

/// Longer than any run: the cost of quiet streams over time is not measured.
const KEEP_ALIVE: Duration = Duration::from_hours(1);

/// How long the servers may take until they are ready. Under valgrind everything takes longer.
const START: Duration = Duration::from_mins(1);

/// Identifies callers by a header.
struct Named;

impl Protect for Named {
    fn admit(&self, request: &Parts) -> AuthDecision {
        let name = request.headers.get("x-caller");
        let name = name.and_then(|it| it.to_str().ok()).unwrap_or("nobody");
        AuthDecision::Now(Ok(Authorized::new(Caller::new(name))))
    }
}

/// A server at a URL, or with a command.
fn server(words: &[&str]) -> Result<ServerSpec, Box<dyn Error>> {
    Ok(match *words {
        [url] if url.starts_with("http://") => ServerSpec::from(Launch::Remote(Remote {
            url: url.to_owned(),
            headers: Vec::new(),
            wire: Wire::Any,
        })),
        [program, ref rest @ ..] => ServerSpec::command(program, rest.iter().copied()),
        [] => return Err("a URL or a command is missing".into()),
    })
}

fn era(word: &str) -> Result<Era, Box<dyn Error>> {
    match word {
        "legacy" => Ok(Era::Legacy),
        "modern" => Ok(Era::Modern),
        _ => Err(format!("`{word}` is neither legacy nor modern").into()),
    }
}

fn gateway(arguments: &[&str]) -> Result<Gateway, Box<dyn Error>> {
    let gateway = Gateway::new("bench-gateway", env!("CARGO_PKG_VERSION"));
    Ok(match *arguments {
        ["parked", count, ref words @ ..] => {
            let spec = server(words)?;
            (0..count.parse::<usize>()?).fold(gateway, |gateway, number| {
                let settings = UpstreamSettings::new().era(Era::Legacy);
                gateway.server_with(format!("s{number:02}"), spec.clone(), settings)
            })
        }
        [word, ref words @ ..] => {
            let settings = UpstreamSettings::new().era(era(word)?);
            gateway.server_with("server", server(words)?, settings)
        }
        _ => return Err("usage: bench-gateway PORT legacy|modern|parked …".into()),
    })
}

async fn serve(port: &str, gateway: Gateway, is_shared: bool) -> Result<(), Box<dyn Error>> {
    let listeners = ListenerLimits::default().with_total(MAX_CONNECTIONS);
    let memory = MemoryBudget::default().with_kept(MAX_KEPT);
    let gateway = gateway
        .configure_server(move |server| {
            server
                .listeners(listeners.with_per_caller(MAX_CONNECTIONS))
                .memory_budget(memory.with_kept_per_caller(MAX_KEPT))
        })
        .open()?;
    // It listens only after its servers have started, so that no start disturbs a measurement.
    let _ = tokio::time::timeout(START, gateway.settled()).await;
    let mut settings = HttpSettings::default();
    settings.max_sessions = MAX_CONNECTIONS;
    settings.max_sessions_per_caller = MAX_CONNECTIONS;
    settings.keep_alive = KEEP_ALIVE;
    let http = Http::bind(format!("127.0.0.1:{port}"))
        .settings(settings)
        .connections(Settings::default().with_max_connections(MAX_CONNECTIONS));
    let http = if is_shared { http.protect(Named) } else { http };
    let served = gateway.server().serve(http).await;
    gateway.close().await;
    Ok(served?)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.split_first() {
        Some((port, rest)) => run(port, rest),
        None => Err("usage: bench-gateway PORT legacy|modern|parked …".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(port: &str, rest: &[&str]) -> Result<(), Box<dyn Error>> {
    // One thread: the harness gives each server one core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let is_shared = rest.first() == Some(&"parked");
    runtime.block_on(serve(port, gateway(rest)?, is_shared))
}
