//! A gateway in front of the server that the official conformance suite is run against.
//!
//! ```text
//! conformance-gateway [--era legacy|modern] [--stdio] http://127.0.0.1:8001/mcp
//! conformance-gateway [--era legacy|modern] [--stdio] conformance-server --stdio
//! ```
//!
//! Without `--stdio` it listens at any port of loopback and says which.

use std::{process::ExitCode, time::Duration};

use turnbuckle::{
    Http, Stdio,
    client::Era,
    gateway::{Gateway, Isolation, LiveGateway, UpstreamSettings},
    host::{
        ServerSpec,
        config::{Launch, Remote, Wire},
    },
    stop_signal,
};

/// How long the server behind the gateway may take to start.
const START: Duration = Duration::from_secs(20);

fn open(arguments: &[String], settings: UpstreamSettings) -> Option<LiveGateway> {
    let spec = match arguments {
        [url] if url.starts_with("http") => ServerSpec::from(Launch::Remote(Remote {
            url: url.clone(),
            headers: Vec::new(),
            wire: Wire::Any,
        })),
        [program, rest @ ..] => ServerSpec::command(program, rest),
        [] => return None,
    };
    let gateway = Gateway::new("turnbuckle-conformance", env!("CARGO_PKG_VERSION"))
        .server_with("server", spec, settings);
    gateway.open().ok()
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // The suite looks at whether a server heeds what each client declares.
    let mut settings = UpstreamSettings::new()
        .isolation(Isolation::Client)
        .max_processes(24);
    if arguments.first().is_some_and(|word| word == "--era") && arguments.len() > 1 {
        let era = arguments.drain(..2).nth(1);
        settings = settings.era(match era.as_deref() {
            Some("legacy") => Era::Legacy,
            _ => Era::Modern,
        });
    }
    let is_stdio = arguments.first().is_some_and(|word| word == "--stdio");
    if is_stdio {
        arguments.remove(0);
    }
    let Some(gateway) = open(&arguments, settings) else {
        eprintln!("usage: conformance-gateway [--era legacy|modern] [--stdio] URL | COMMAND");
        return ExitCode::from(2);
    };
    // The suite begins as soon as it hears where the gateway is.
    let _ = tokio::time::timeout(START, gateway.settled()).await;
    let ended = if is_stdio {
        gateway.server().serve(Stdio).await
    } else {
        let http = Http::bind("127.0.0.1:0").until(stop_signal());
        let http = http.announce(|address| {
            if let Some(address) = address {
                println!("listening at http://{address}/mcp");
            }
        });
        gateway.server().serve(http).await
    };
    gateway.close().await;
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-gateway: {error}");
            ExitCode::FAILURE
        }
    }
}
