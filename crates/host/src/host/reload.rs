//! Reads the config files again while the host runs.

use super::{ConfigNote, Host};
use crate::{config::ConfigError, fleet::ServerState, id::ServerId};

/// The changes of a reload of the config files, returned by [`Host::reload`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Servers that were added.
    pub added: Vec<ServerId>,
    /// Servers that were removed. They have ended.
    pub removed: Vec<ServerId>,
    /// Servers that are restarted, because their command, URL or settings changed.
    pub changed: Vec<ServerId>,
    /// Servers that continue unchanged, with their connections. Those that had failed are tried again.
    pub unchanged: Vec<ServerId>,
    /// The new notes about the files, which [`Host::notes`] returns from now on.
    pub notes: Vec<ConfigNote>,
}

impl Host {
    /// Reads the config files again. Servers whose entries are unchanged keep their connections;
    /// failed ones are tried again. Servers that were added in code stay. Returns what changed.
    ///
    /// Call it for example from a "reload" button, or use
    /// [`HostBuilder::watch_files`](crate::HostBuilder::watch_files) to reload files when they
    /// change.
    ///
    /// # Errors
    /// [`ConfigError`] if a file cannot be read; in this case nothing changes.
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
                    // A reload retries failed servers even if nothing changed.
                    if let ServerState::Failed { .. } = known.state() {
                        known.start_soon();
                    }
                    reloaded.unchanged.push(id);
                }
            }
        }
        // This is the last step, because a server may take long to end.
        fleet.remove_all(&reloaded.removed).await;
        fleet.sort_by(&order);
        *self.inner.notes.lock() = notes;
        self.inner.shared.catalog_changed();
        Ok(reloaded)
    }
}
