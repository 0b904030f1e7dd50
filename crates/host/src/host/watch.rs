//! Looks once a second at what people change: config files, the file of grants, folders of roots.

use std::{
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

use tokio::{task, time};
use turnbuckle_base::error_chain::in_one_line;

use super::{Host, builder::Watch, handle::Inner};

/// How often it looks. People wait a second without noticing, and a look costs a few system calls.
const EVERY: Duration = Duration::from_secs(1);

type Stamps = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Looks until the host is gone.
pub(super) async fn watch(host: Weak<Inner>, files: Watch) {
    let mut stamps: Option<Stamps> = None;
    loop {
        time::sleep(EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let paths = inner.plan.lock().await.files.clone();
        let looking = inner.clone();
        // A folder of another machine may take its time.
        let looked = task::spawn_blocking(move || {
            look(&looking);
            stamps_of(paths)
        });
        let Ok(now) = looked.await else { return };
        let has_changed = stamps.as_ref().is_some_and(|before| *before != now);
        stamps = Some(now);
        if has_changed && files == Watch::On {
            let host = Host { inner };
            match host.reload().await {
                Ok(reloaded) => tracing::info!(?reloaded, "read the config files again"),
                Err(error) => {
                    let error = in_one_line(&error);
                    tracing::warn!(
                        error,
                        "the servers stay as they are: a config file is wrong"
                    );
                }
            }
        }
    }
}

fn look(inner: &Arc<Inner>) {
    if let Err(error) = inner.shared.consent.grants.read_again() {
        let error = in_one_line(&error);
        tracing::warn!(error, "the grants stay as they are");
    }
    for upstream in inner.fleet.all() {
        inner.shared.show_roots(&upstream);
    }
}

fn stamps_of(paths: Vec<PathBuf>) -> Stamps {
    paths
        .into_iter()
        .map(|path| {
            let metadata = std::fs::metadata(&path).ok();
            let stamp = metadata.and_then(|it| Some((it.modified().ok()?, it.len())));
            (path, stamp)
        })
        .collect()
}
