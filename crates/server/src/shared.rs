//! What all connections of a server share.

use std::{
    any::{Any, TypeId},
    sync::{Arc, PoisonError, RwLock},
};

use turnbuckle_protocol::{Implementation, ServerCapabilities};
use turnbuckle_session::round::KeyRing;
use turnbuckle_store::Change;

use crate::{
    Layer,
    catalog::Snapshot,
    extension::Registry,
    log,
    roots::OnRootsChanged,
    settings::Settings,
    subscription::Office,
    task::{Entrance, Room},
};

pub(crate) struct Shared {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) settings: Settings,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) states: StateMap,
    /// What ends every modern result: its type and who answered.
    pub(crate) modern_tail: Vec<u8>,
    /// What ends a result that says what is missing.
    pub(crate) paused_tail: Vec<u8>,
    /// Seals what a handler knows between rounds.
    keys: RwLock<Arc<KeyRing>>,
    /// What extensions added.
    pub(crate) extensions: Registry,
    catalog: RwLock<Arc<Snapshot>>,
    /// Called when the roots of a client have changed.
    pub(crate) on_roots_changed: Option<OnRootsChanged>,
    /// Where changes go.
    pub(crate) office: Office,
    /// The way to where tasks run.
    pub(crate) tasks: Entrance,
}

/// Values by their types.
#[derive(Default)]
pub(crate) struct StateMap(Vec<(TypeId, Box<dyn Any + Send + Sync>)>);

/// Whether a state of some type was given.
pub(crate) trait States {
    fn has(&self, id: TypeId) -> bool;
}

impl StateMap {
    pub(crate) fn insert<S: Any + Send + Sync>(&mut self, state: S) {
        self.0.retain(|(id, _)| *id != TypeId::of::<S>());
        self.0.push((TypeId::of::<S>(), Box::new(state)));
    }
}

impl States for StateMap {
    fn has(&self, id: TypeId) -> bool {
        self.0.iter().any(|(known, _)| *known == id)
    }
}

impl States for Arc<Shared> {
    fn has(&self, id: TypeId) -> bool {
        self.states.has(id)
    }
}

impl Shared {
    pub(crate) fn new(
        info: Implementation,
        instructions: Option<String>,
        settings: Settings,
        layers: Vec<Arc<dyn Layer>>,
        states: StateMap,
        keys: KeyRing,
        catalog: Snapshot,
    ) -> Self {
        let modern_tail = tail("complete", &info);
        let paused_tail = tail("input_required", &info);
        Self {
            info,
            instructions,
            settings,
            layers,
            states,
            modern_tail,
            paused_tail,
            keys: RwLock::new(Arc::new(keys)),
            extensions: Registry::default(),
            catalog: RwLock::new(Arc::new(catalog)),
            on_roots_changed: None,
            office: Office::default(),
            tasks: Entrance::default(),
        }
    }

    pub(crate) fn state<S: Any>(&self) -> Option<&S> {
        let (_, state) = self
            .states
            .0
            .iter()
            .find(|(id, _)| *id == TypeId::of::<S>())?;
        state.downcast_ref()
    }

    /// The keys as they are now.
    pub(crate) fn keys(&self) -> Arc<KeyRing> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Seals and opens with these from now on.
    pub(crate) fn set_keys(&self, keys: KeyRing) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// The catalog as it is now.
    pub(crate) fn catalog(&self) -> Arc<Snapshot> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where tasks run, if there is or ever was a tool that runs as one.
    pub(crate) fn task_room(&self) -> Option<Arc<dyn Room>> {
        let open = self.catalog().opens_tasks()?;
        Some(self.tasks.room(open))
    }

    /// What the server can do, read off what it was given.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.catalog().capabilities();
        if self.offers_logging() {
            capabilities.logging = Some(turnbuckle_protocol::JsonObject::new());
        }
        self.extensions.declare(&mut capabilities);
        capabilities
    }

    /// Whether clients may be sent log messages.
    pub(crate) fn offers_logging(&self) -> bool {
        self.settings.logging || log::is_forwarding() || self.catalog().logs()
    }

    /// Changes the catalog, or leaves it as it was.
    pub(crate) fn change<E>(
        &self,
        change: impl FnOnce(&mut Snapshot) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&catalog);
        change(&mut next)?;
        *catalog = Arc::new(next);
        Ok(())
    }

    /// Tells everybody who listens that something changed.
    pub(crate) fn publish(&self, change: Change) {
        self.office.publish(change);
    }
}

/// What ends every modern result: its type and who answered.
fn tail(result_type: &str, info: &Implementation) -> Vec<u8> {
    let mut tail =
        format!(r#""resultType":"{result_type}","_meta":{{"io.modelcontextprotocol/serverInfo":"#)
            .into_bytes();
    serde_json::to_writer(&mut tail, info).expect("an Implementation is plain JSON");
    tail.extend_from_slice(b"}}");
    tail
}
