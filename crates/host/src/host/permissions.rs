//! What the user allows servers beyond a single call: grants and roots.

use turnbuckle_protocol::Root;

use super::{Host, handle::denial};
use crate::{
    consent::{ActionKind, Grant, GrantFileError},
    error::HostError,
    id::ServerId,
    shown_uri::without_secrets,
};

impl Host {
    /// What the user has allowed until it is revoked, sorted by server, kind and subject.
    ///
    /// Permissions for one conversation are not included; they end with the
    /// [`Conversation`](crate::Conversation).
    /// Changes to the file of grants by other programs are noticed within about a second.
    pub fn grants(&self) -> Vec<Grant> {
        self.inner.shared.consent.grants.list()
    }

    /// Revokes every grant for which `fits` returns true, and returns how many there were.
    ///
    /// ```no_run
    /// # fn run(host: turnbuckle_host::Host) -> Result<(), turnbuckle_host::GrantFileError> {
    /// // Forgets everything that was allowed for one server.
    /// let revoked = host.revoke(|grant| grant.server == "git")?;
    /// println!("{revoked} grants revoked");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`GrantFileError`] if the file of grants cannot be changed.
    pub fn revoke(&self, fits: impl FnMut(&Grant) -> bool) -> Result<usize, GrantFileError> {
        self.inner.shared.consent.grants.revoke(fits)
    }

    /// Adds a root for one server, if the policy or the user allows it. The server is notified that
    /// its roots changed.
    ///
    /// If the folder of a root does not exist, the root is held back and shown to the server as
    /// soon as the folder exists. Set roots for every server with
    /// [`HostBuilder::root`](crate::HostBuilder::root).
    ///
    /// # Errors
    /// - [`HostError::NoServer`] if the host has no server with this id.
    /// - [`HostError::Denied`] if the policy or the user denies it. The server then does not see the root,
    ///   even if it did before.
    pub async fn share_root(
        &self,
        server: impl Into<ServerId>,
        root: Root,
    ) -> Result<(), HostError> {
        let upstream = self.upstream(&server.into())?;
        let uri = root.uri.clone();
        let mut denials = self.inner.shared.share_roots(&upstream, &[root]).await;
        match denials.pop() {
            None => Ok(()),
            Some(denied) => {
                let uri = without_secrets(&uri);
                Err(denial(upstream.id(), ActionKind::ShareRoot, &uri, denied))
            }
        }
    }

    /// Removes a root of a server, and notifies the server. Returns whether the server had it;
    /// `false` also if there is no such server.
    ///
    /// The server may already have read files below the root. If the root is one of
    /// [`HostBuilder::root`](crate::HostBuilder::root) or
    /// [`ServerSpec::root`](crate::ServerSpec::root), it is shared again when the server is
    /// restarted.
    pub fn unshare_root(&self, server: impl Into<ServerId>, uri: &str) -> bool {
        let Some(upstream) = self.inner.fleet.find(&server.into()) else {
            return false;
        };
        let had = upstream.disallow_root(uri);
        self.inner.shared.show_roots(&upstream);
        had
    }

    /// The roots that a server sees now: those that were allowed and whose folders exist. Empty if
    /// there is no such server. The roots of the settings are included once the server was started.
    pub fn roots_of(&self, server: impl Into<ServerId>) -> Vec<Root> {
        let upstream = self.inner.fleet.find(&server.into());
        upstream.map_or_else(Vec::new, |upstream| upstream.roots.list())
    }
}
