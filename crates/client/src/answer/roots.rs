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

    /// Tells of each change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<Vec<Root>> {
        self.list.subscribe()
    }
}

impl From<Vec<Root>> for Roots {
    fn from(roots: Vec<Root>) -> Self {
        Self {
            list: watch::Sender::new(roots),
        }
    }
}
