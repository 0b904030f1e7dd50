//! The places servers may work in, which may change while connections are open.

use tokio::sync::watch;
use turnbuckle_protocol::Root;

/// The places servers may work in. Clones share them.
///
/// Servers that keep a list of them are told when it changes; newer ones ask when they need it.
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
}

impl Roots {
    /// The places at this moment.
    pub fn list(&self) -> Vec<Root> {
        self.list.borrow().clone()
    }

    /// Puts others in their place, and tells the servers that want to know.
    pub fn replace(&self, roots: Vec<Root>) {
        self.list.send_replace(roots);
    }

    /// Those that servers may be told of.
    ///
    /// roots: a root MUST be a `file://` URI, and clients MUST validate it against path traversal.
    pub(super) fn shown(&self) -> Vec<Root> {
        let mut roots = self.list();
        roots.retain(|root| {
            let is_place = is_place(&root.uri);
            if !is_place {
                tracing::warn!(
                    uri = root.uri,
                    "no server is told of this root: it is no `file://` URI of a path without `..`"
                );
            }
            is_place
        });
        roots
    }

    /// Tells of each change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<Vec<Root>> {
        self.list.subscribe()
    }
}

/// Whether a URI is an absolute path of a file, and leads nowhere else.
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
        let shown: Vec<_> = roots.shown().into_iter().map(|root| root.uri).collect();
        assert_eq!(shown, good);
        assert_eq!(roots.list().len(), good.len() + bad.len());
    }
}
