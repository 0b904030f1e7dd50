//! What the user allows servers for longer than one call: grants and roots.

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
    /// A root whose folder does not exist is kept back, and shown to the server as soon as the
    /// folder is there. Roots that every server may see are set with
    /// [`HostBuilder::root`](crate::HostBuilder::root).
    ///
    /// # Errors
    /// - [`HostError::NoServer`] if the host has no server with this id.
    /// - [`HostError::Denied`] if the policy or the user denies it. The server then does not see
    ///   the root, even if it did before.
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

    /// Removes a root of a server, which is notified. Returns whether the server had it; `false`
    /// too if there is no such server.
    ///
    /// The server may have read files below the root before. It comes back when the server is
    /// restarted if it is one of [`HostBuilder::root`](crate::HostBuilder::root) or
    /// [`ServerSpec::root`](crate::ServerSpec::root).
    pub fn unshare_root(&self, server: impl Into<ServerId>, uri: &str) -> bool {
        let Some(upstream) = self.inner.fleet.find(&server.into()) else {
            return false;
        };
        let had = upstream.disallow_root(uri);
        self.inner.shared.show_roots(&upstream);
        had
    }

    /// The roots that a server sees now: those that were allowed and whose folders exist. Empty if
    /// there is no such server. The roots of the settings are there once the server was started.
    pub fn roots_of(&self, server: impl Into<ServerId>) -> Vec<Root> {
        let upstream = self.inner.fleet.find(&server.into());
        upstream.map_or_else(Vec::new, |upstream| upstream.roots.list())
    }
}
