//! The roots: folders that servers may work in. They may change while connections are open.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::Root;

use crate::future::{First, race};

/// The roots: folders that servers may work in. Clones share them.
///
/// Servers with a session are notified when the roots change; modern servers ask when they need them. A
/// root tells a server where to work, but does not restrict it. Only `file://` URIs without `..` are
/// sent to servers; others are left out, with a warning in the log.
///
/// ```
/// use turnbuckle_client::{Client, Roots, protocol::Root};
///
/// let roots = Roots::from(vec![Root::new("file:///home/ada/engine")]);
/// let client = Client::new("my-app", "0.3.0").roots(roots.clone());
/// roots.replace(vec![Root::new("file:///home/ada/notes")]);
/// assert_eq!(roots.list().len(), 1);
/// # let _ = client;
/// ```
#[derive(Clone, Debug)]
pub struct Roots {
    list: watch::Sender<Vec<Root>>,
    /// The folders of roots that were given as paths. Servers only see such a root while its folder can
    /// be read.
    folders: Arc<Mutex<Folders>>,
}

/// Folders, with the URI of each.
type Folders = Vec<(String, PathBuf)>;

/// Why a path cannot be used as a root: it does not exist, is not a folder, or cannot be read.
/// Returned by [`Roots::folders`] and [`Roots::replace_folders`].
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{}` as a root: it must be a folder that can be read", path.display())]
#[non_exhaustive]
pub struct RootError {
    /// The path.
    pub path: PathBuf,
    /// The problem.
    #[source]
    pub source: io::Error,
}

/// How often folders are checked: a server learns within seconds that one has disappeared.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Roots {
    /// Creates roots from folders of this machine, which must exist. While a connection is open, they
    /// are checked every five seconds: a folder that has disappeared or cannot be read is not listed
    /// any more, and servers are notified; when it is back, it is listed again.
    ///
    /// ```no_run
    /// use turnbuckle_client::{Client, Roots};
    ///
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Client::new("my-app", "0.3.0").roots(Roots::folders(["/home/ada/engine"])?);
    /// # drop(client);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`RootError`] for a path that is not a folder, or cannot be read.
    pub fn folders<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, RootError> {
        let (roots, folders) = read_folders(paths)?;
        Ok(Self {
            list: watch::Sender::new(roots),
            folders: Arc::new(Mutex::new(folders)),
        })
    }

    /// Returns the current roots, including those whose folders have disappeared.
    pub fn list(&self) -> Vec<Root> {
        self.list.borrow().clone()
    }

    /// Replaces the roots, and notifies the servers of all connections that use them. It does not wait
    /// for the servers, and does not check that a root exists: only roots whose folders were passed to
    /// [`folders`](Self::folders) or [`replace_folders`](Self::replace_folders) before are watched.
    pub fn replace(&self, roots: Vec<Root>) {
        self.list.send_replace(roots);
    }

    /// Replaces the roots with folders of this machine. They must exist and are watched like those of
    /// [`folders`](Self::folders). Servers are notified as by [`replace`](Self::replace).
    ///
    /// ```
    /// use turnbuckle_client::Roots;
    ///
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let roots = Roots::folders(["."])?;
    /// roots.replace_folders([std::env::temp_dir()])?;
    /// assert!(roots.replace_folders(["./no-such-folder"]).is_err());
    /// assert_eq!(roots.list().len(), 1); // the folder for temporary files, as before
    /// # Ok(()) }
    /// # run().unwrap();
    /// ```
    ///
    /// # Errors
    /// [`RootError`] for a path that is not a folder, or cannot be read. The roots are then not
    /// changed.
    pub fn replace_folders<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), RootError> {
        let (roots, folders) = read_folders(paths)?;
        self.list.send_modify(|list| {
            // Replaced together, so that no connection sees new roots with the old folders.
            *self.folders.lock() = folders;
            *list = roots;
        });
        Ok(())
    }

    /// Returns the roots that servers get now: `file://` URIs, without folders that have disappeared or
    /// cannot be read. Use it to answer `roots/list` [by hand](crate::Connection::by_hand).
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn current(&self) -> Vec<Root> {
        self.look_closely().await.0
    }

    /// Returns the roots to send, and the URIs of folders that have disappeared. The folders are
    /// checked on another thread, because an unavailable network share may block for a while.
    async fn look_closely(&self) -> (Vec<Root>, Vec<String>) {
        if self.folders.lock().is_empty() {
            return self.shown();
        }
        let roots = self.clone();
        let looked = tokio::task::spawn_blocking(move || roots.shown()).await;
        // If the folders could not be checked, no roots are sent.
        looked.unwrap_or_default()
    }

    fn shown(&self) -> (Vec<Root>, Vec<String>) {
        let mut roots = only_places(self.list());
        let gone = self.gone();
        roots.retain(|root| !gone.contains(&root.uri));
        (roots, gone)
    }

    /// Returns the URIs of the folders that have disappeared or cannot be read.
    fn gone(&self) -> Vec<String> {
        let folders = self.folders.lock().clone();
        let gone = folders.into_iter().filter(|(_, path)| {
            let is_gone = std::fs::read_dir(path).is_err();
            if is_gone {
                tracing::debug!(path = %path.display(), "a root no longer exists or cannot be read");
            }
            is_gone
        });
        gone.map(|(uri, _)| uri).collect()
    }

    /// Watches for changes from now on.
    pub(crate) fn watch(&self) -> RootsWatch {
        RootsWatch {
            changes: self.list.subscribe(),
            gone: self.gone(),
            roots: self.clone(),
        }
    }
}

/// Reports changed roots, and folders that disappear and reappear.
#[derive(Clone, Debug)]
pub(crate) struct RootsWatch {
    roots: Roots,
    changes: watch::Receiver<Vec<Root>>,
    gone: Vec<String>,
}

impl RootsWatch {
    /// Waits for a change. Returns `false` if there will be no further change.
    pub(crate) async fn changed(&mut self) -> bool {
        let has_folders = !self.roots.folders.lock().is_empty();
        loop {
            if !has_folders {
                return self.changes.changed().await.is_ok();
            }
            let looking = tokio::time::sleep(LOOK_EVERY);
            match race(self.changes.changed(), looking).await {
                First::Left(changed) => return changed.is_ok(),
                First::Right(()) => {
                    let roots = self.roots.clone();
                    // An unavailable network share may block for a while.
                    let looked = tokio::task::spawn_blocking(move || roots.gone()).await;
                    // The runtime is shutting down, so there is nothing to report.
                    let Ok(gone) = looked else { return false };
                    if gone != self.gone {
                        self.gone = gone;
                        return true;
                    }
                }
            }
        }
    }
}

/// The last roots that a handler returned to one server, and the last known state of their folders.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenRoots(watch::Sender<Option<RootsWatch>>);

impl GivenRoots {
    /// Returns the part of these roots that the server may see. They are watched from now on, instead
    /// of the roots that the handler returned before.
    pub(crate) async fn give(&self, roots: Roots) -> Vec<Root> {
        // Subscribe first, so that a change during the check of the folders is announced.
        let changes = roots.list.subscribe();
        let (shown, gone) = roots.look_closely().await;
        self.0.send_replace(Some(RootsWatch {
            roots,
            changes,
            gone,
        }));
        shown
    }

    /// Calls `announce` each time the answer for the server would change, because folders disappear or
    /// reappear, or roots were replaced. It ends with the runtime.
    pub(crate) async fn announce(self, announce: impl Fn()) {
        let mut given = self.0.subscribe();
        loop {
            let watch = given.borrow_and_update().clone();
            let Some(mut watch) = watch else {
                // This cannot fail, because `self` has the sender.
                let _ = given.changed().await;
                continue;
            };
            loop {
                match race(given.changed(), watch.changed()).await {
                    First::Left(_) => break,
                    First::Right(true) => announce(),
                    First::Right(false) => return,
                }
            }
        }
    }
}

/// Returns the roots for some paths, and the folder of each root.
fn read_folders<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
) -> Result<(Vec<Root>, Folders), RootError> {
    let (mut roots, mut folders) = (Vec::new(), Vec::new());
    for path in paths {
        let path = path.as_ref();
        let failed = |source| RootError {
            path: path.to_owned(),
            source,
        };
        let whole = path.canonicalize().map_err(failed)?;
        std::fs::read_dir(&whole).map_err(failed)?;
        let root = Root::folder(&whole);
        folders.push((root.uri.clone(), whole));
        roots.push(root);
    }
    Ok((roots, folders))
}

/// Keeps only the roots that are local paths.
///
/// roots: a root MUST be a `file://` URI, and clients MUST validate it against path traversal.
fn only_places(mut roots: Vec<Root>) -> Vec<Root> {
    roots.retain(|root| {
        let is_place = is_place(&root.uri);
        if !is_place {
            tracing::warn!(
                uri = root.uri,
                "this root is not sent to servers: its URI must be `file://` with a path without `..`"
            );
        }
        is_place
    });
    roots
}

/// Whether a URI is a `file://` URI with an absolute path and without `..`.
fn is_place(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return false;
    };
    let Some((_host, path)) = rest.split_once('/') else {
        return false;
    };
    let climbs = |step: &str| {
        let plain = step.to_ascii_lowercase().replace("%2e", ".");
        plain == ".." || plain.contains("%2f") || plain.contains("%5c") || plain.contains('\\')
    };
    scheme.eq_ignore_ascii_case("file") && !path.split('/').any(climbs)
}

impl From<Vec<Root>> for Roots {
    fn from(roots: Vec<Root>) -> Self {
        Self {
            list: watch::Sender::new(roots),
            folders: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: O1
    #[test]
    fn only_paths_of_files_are_shown() {
        let good = [
            "file:///home/ada",
            "file:///",
            "FILE:///a%20b/..c",
            "file://host/share",
        ];
        let bad = [
            "https://example.com/a",
            "/home/ada",
            "file:/home",
            "file://host",
            "file:///home/../etc",
            "file:///home/%2E%2e/etc",
            "file:///home/..%2Fetc",
            "file:///home\\..\\etc",
            "",
        ];
        let all = good.iter().chain(&bad).map(|uri| Root::new(*uri));
        let roots = Roots::from(all.collect::<Vec<_>>());
        let shown: Vec<_> = roots.shown().0.into_iter().map(|root| root.uri).collect();
        assert_eq!(shown, good);
        assert_eq!(roots.list().len(), good.len() + bad.len());
    }
}
