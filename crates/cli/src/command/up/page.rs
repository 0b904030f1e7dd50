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
            match gateway.approve(server, kind, named(kind, name)?) {
                Ok(0) => Err(missing("difference; it may be approved already")),
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

/// The name of the differences to approve; `None` for all names. Instructions have an empty one. An empty name of
/// anything else is a mistake, and does not mean all of them.
fn named(kind: Option<LockKind>, name: Option<&str>) -> Result<Option<&str>, (StatusCode, String)> {
    match (kind, name) {
        (Some(LockKind::Instructions), Some("")) => Ok(None),
        (_, Some("")) => Err(missing("name")),
        (_, name) => Ok(name),
    }
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

#[cfg(test)]
mod tests {
    use turnbuckle::gateway::{Gateway, lock::Lock};

    use super::*;

    #[test]
    fn an_empty_name_is_that_of_instructions() {
        let instructions = Some(LockKind::Instructions);
        assert_eq!(named(instructions, Some("")), Ok(None));
        assert_eq!(named(Some(LockKind::Tool), Some("send")), Ok(Some("send")));
        assert_eq!(named(None, None), Ok(None));
        for kind in [Some(LockKind::Tool), Some(LockKind::Prompt), None] {
            named(kind, Some("")).expect_err("tools and prompts have names");
        }
    }

    #[tokio::test]
    async fn approving_what_does_not_differ_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("turnbuckle.lock");
        let lock = Lock::open(file, LockMode::Enforce).expect("a new lock file");
        let live = Gateway::new("gateway", "1.0.0").lock(lock).open();
        let live = live.expect("a gateway without servers");
        let address = SocketAddr::from(([127, 0, 0, 1], 7250));
        let page = gateway(live, Recorder::new(), address, Arc::default());
        for (server, name) in [
            (Some("crm"), None),
            (Some("crm"), Some("send")),
            (None, None),
        ] {
            let kind = name.map(|_| "tool");
            let answer = page(GatewayAsk::Approve { server, kind, name });
            let (status, _) = answer.expect_err("nothing differs");
            assert_eq!(status, StatusCode::NOT_FOUND);
        }
    }
}
