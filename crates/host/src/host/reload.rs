//! Reading the config files again while the host runs.

use super::{ConfigNote, Host};
use crate::{config::ConfigError, fleet::ServerState, id::ServerId};

/// What a reload of the config files changed. Returned by [`Host::reload`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Servers that are new.
    pub added: Vec<ServerId>,
    /// Servers that are gone. They have ended.
    pub removed: Vec<ServerId>,
    /// Servers that are started again, because their command, URL or settings differ now.
    pub changed: Vec<ServerId>,
    /// Servers that go on as they are, with their connections. Those that had failed are tried
    /// again.
    pub unchanged: Vec<ServerId>,
    /// Notes about the files, as [`Host::notes`] returns them from now on.
    pub notes: Vec<ConfigNote>,
}

impl Host {
    /// Reads the config files again. Servers whose entries are unchanged keep their connections;
    /// failed ones are tried again. Servers that were added in code stay. Returns what changed.
    ///
    /// Use it behind a "reload" button, or let
    /// [`HostBuilder::watch_files`](crate::HostBuilder::watch_files) do it.
    ///
    /// # Errors
    /// [`ConfigError`] if a file cannot be read; then nothing changes.
    ///
    /// # Cancel safety
    /// Dropping the future may skip the removal of servers; reload again.
    pub async fn reload(&self) -> Result<Reloaded, ConfigError> {
        let plan = self.inner.plan.lock().await;
        let (servers, notes) = plan.read()?;
        let mut reloaded = Reloaded {
            notes: notes.clone(),
            ..Reloaded::default()
        };
        let fleet = &self.inner.fleet;
        for upstream in fleet.all() {
            if !servers.contains_key(upstream.id()) {
                reloaded.removed.push(upstream.id().clone());
            }
        }
        let order: Vec<ServerId> = servers.keys().cloned().collect();
        for (id, spec) in servers {
            match fleet.find(&id) {
                None => {
                    fleet.add(id.clone(), spec);
                    reloaded.added.push(id);
                }
                Some(known) if known.spec != spec => {
                    fleet.replace(id.clone(), spec);
                    reloaded.changed.push(id);
                }
                Some(known) => {
                    // A reload without changes tries failed servers again.
                    if let ServerState::Failed { .. } = known.state() {
                        known.start_soon();
                    }
                    reloaded.unchanged.push(id);
                }
            }
        }
        // The last step, because a server may take its time to end.
        fleet.remove_all(&reloaded.removed).await;
        fleet.sort_by(&order);
        *self.inner.notes.lock() = notes;
        self.inner.shared.catalog_changed();
        Ok(reloaded)
    }
}
