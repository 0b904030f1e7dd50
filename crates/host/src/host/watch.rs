//! Checks once a second for changed config files, grants and folders of roots.

use std::{
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

use tokio::{task, time};
use turnbuckle_base::error_chain::in_one_line;

use super::{Host, builder::Watch, handle::Inner};

/// How often files are checked. People hardly notice a delay of a second, and a check costs a few
/// system calls.
const EVERY: Duration = Duration::from_secs(1);

type Stamps = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Checks until the host is gone.
pub(super) async fn watch(host: Weak<Inner>, files: Watch) {
    let mut stamps: Option<Stamps> = None;
    let mut grants = LastProblem::default();
    loop {
        time::sleep(EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let paths = inner.plan.lock().await.files.clone();
        let looking = inner.clone();
        // A folder of another machine may answer slowly.
        let looked = task::spawn_blocking(move || {
            let problem = look(&looking);
            (problem, stamps_of(paths))
        });
        let Ok((problem, now)) = looked.await else {
            return;
        };
        if let Some(error) = grants.news(problem) {
            tracing::warn!(error, "no grants apply until the file can be read");
        }
        let has_changed = stamps.as_ref().is_some_and(|before| *before != now);
        stamps = Some(now);
        if has_changed && files == Watch::On {
            let host = Host { inner };
            match host.reload().await {
                Ok(reloaded) => tracing::info!(?reloaded, "reloaded the config files"),
                Err(error) => {
                    let error = in_one_line(&error);
                    tracing::warn!(
                        error,
                        "the servers are unchanged, because a config file is invalid"
                    );
                }
            }
        }
    }
}

/// Reads the files that have changed. Returns the problem of the file of grants, if there is one.
fn look(inner: &Arc<Inner>) -> Option<String> {
    let read = inner.shared.consent.grants.read_again();
    for upstream in inner.fleet.all() {
        inner.shared.show_roots(&upstream);
    }
    read.err().map(|error| in_one_line(&error))
}

/// The last problem of a file, so that it is reported once and not with every check.
#[derive(Default)]
struct LastProblem(Option<String>);

impl LastProblem {
    /// Returns the problem, unless it is the same as before.
    fn news(&mut self, now: Option<String>) -> Option<&str> {
        let is_new = self.0 != now;
        self.0 = now;
        self.0.as_deref().filter(|_| is_new)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_reported_once() {
        let mut last = LastProblem::default();
        for (problem, news) in [
            (None, None),
            (Some("line 1"), Some("line 1")),
            (Some("line 1"), None),
            (Some("line 2"), Some("line 2")),
            (None, None),
            (Some("line 2"), Some("line 2")),
        ] {
            assert_eq!(last.news(problem.map(str::to_owned)), news);
        }
    }
}
