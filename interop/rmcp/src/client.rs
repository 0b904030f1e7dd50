//! A client built on rmcp, against the demo server, or with `THROUGH_GATEWAY` in the environment against a server
//! behind the gateway.
//!
//! ```text
//! rmcp-client auto|legacy URL
//! rmcp-client auto|legacy COMMAND [ARGUMENT…]
//! ```

mod behind;
mod demo;
mod heard;
#[path = "../../rust/src/report.rs"]
mod report;

use std::{error::Error, process::ExitCode, sync::Arc};

use rmcp::{
    ClientServiceExt, RoleClient,
    model::ProtocolVersion,
    service::{ClientLifecycleMode, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};

use crate::{heard::Heard, report::Report};

/// A client that is connected, and what it heard.
pub(crate) struct Client {
    service: RunningService<RoleClient, Arc<Heard>>,
    revision: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(mode), Some(place)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: rmcp-client auto|legacy URL|COMMAND [ARGUMENT…]");
        return ExitCode::from(2);
    };
    let mut report = Report::default();
    match connect(&mode, place, arguments).await {
        Ok(client) => {
            println!("revision\t{}", client.revision);
            let wanted = if mode == "auto" {
                "2026-07-28"
            } else {
                "2025-11-25"
            };
            let revision = client.revision.clone();
            report
                .check("connect", async { report::same(&&*revision, &wanted) })
                .await;
            if std::env::var_os("THROUGH_GATEWAY").is_some() {
                behind::check(&mut report, client).await;
            } else {
                demo::check(&mut report, client).await;
            }
            report.done()
        }
        Err(error) => {
            let reason = report::chain(&*error);
            report.check("connect", async { Err(reason) }).await;
            ExitCode::FAILURE
        }
    }
}

async fn connect(
    mode: &str,
    place: String,
    arguments: impl Iterator<Item = String>,
) -> Result<Client, Box<dyn Error>> {
    let lifecycle = if mode == "auto" {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    let heard = Arc::new(Heard::default());
    let service = if place.starts_with("http://") {
        let transport = StreamableHttpClientTransport::from_uri(place);
        heard.serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let mut command = tokio::process::Command::new(place);
        command.args(arguments);
        let transport = TokioChildProcess::new(command)?;
        heard.serve_with_lifecycle(transport, lifecycle).await?
    };
    let info = service
        .peer_info()
        .ok_or("the server said nothing of itself")?;
    let revision = info.protocol_version.to_string();
    Ok(Client { service, revision })
}
