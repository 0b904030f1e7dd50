//! The gateway's data for the page.

use std::{net::SocketAddr, sync::Arc};

use http::StatusCode;
use serde::Serialize;
use tokio::sync::Notify;
use turnbuckle::gateway::{
    LiveGateway,
    lock::{LockDifference, LockKind, LockMode},
    observe::{Overview, Period, Recorder},
};
use turnbuckle_inspector::{GatewayAsk, GatewayPage};

/// The overview, with the address of the gateway.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageOverview {
    address: String,
    version: &'static str,
    #[serde(flatten)]
    overview: Overview,
    lock: Option<PageLock>,
}

/// The differences from the lock file.
#[derive(Serialize)]
struct PageLock {
    mode: LockMode,
    path: Option<String>,
    differences: Vec<LockDifference>,
}

/// Answers requests of the page about the gateway.
pub(super) fn gateway(
    gateway: LiveGateway,
    recorder: Arc<Recorder>,
    address: SocketAddr,
    reload: Arc<Notify>,
) -> GatewayPage {
    Arc::new(move |ask| match ask {
        GatewayAsk::Overview(period) => {
            let period = Period::parse(period).unwrap_or_default();
            let overview = gateway.overview(period).ok_or_else(|| missing("gateway"))?;
            text(&PageOverview {
                address: address.to_string(),
                version: env!("CARGO_PKG_VERSION"),
                overview,
                lock: lock(&gateway),
            })
        }
        GatewayAsk::Exchanges { after, limit } => text(&recorder.exchanges(after, limit)),
        GatewayAsk::Exchange(number) => {
            let exchange = recorder.exchange(number);
            text(&exchange.ok_or_else(|| missing("exchange; newer ones may have replaced it"))?)
        }
        GatewayAsk::Restart(server) => {
            if gateway.restart(server) {
                return Ok(done());
            }
            Err(missing("server"))
        }
        GatewayAsk::Reload => {
            reload.notify_one();
            Ok(done())
        }
        GatewayAsk::Approve { server, kind, name } => {
            let kind = kind.map(kind_of).transpose()?;
            // Instructions have no name.
            let name = name.filter(|name| !name.is_empty());
            match gateway.approve(server, kind, name) {
                Ok(_) => Ok(done()),
                Err(error) => Err((StatusCode::CONFLICT, error.to_string())),
            }
        }
        _ => Err(missing("place")),
    })
}

/// The lock file's data for the page; `None` without a lock file.
fn lock(gateway: &LiveGateway) -> Option<PageLock> {
    let mode = gateway.lock_mode();
    (mode != LockMode::Off).then(|| PageLock {
        mode,
        path: gateway.lock_path().map(|path| path.display().to_string()),
        differences: gateway.lock_differences(),
    })
}

fn kind_of(word: &str) -> Result<LockKind, (StatusCode, String)> {
    let kinds = [LockKind::Tool, LockKind::Prompt, LockKind::Instructions];
    let mut kinds = kinds.into_iter();
    kinds
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| missing("kind"))
}

fn text(value: &impl Serialize) -> Result<String, (StatusCode, String)> {
    serde_json::to_string(value)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

fn done() -> String {
    r#"{"ok":true}"#.to_owned()
}

fn missing(what: &str) -> (StatusCode, String) {
    (StatusCode::NOT_FOUND, format!("unknown {what}"))
}
