//! Values that the server was given with `.state(…)`.

use std::{
    any::{Any, TypeId},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The states, found by their types.
#[derive(Default)]
pub(crate) struct StateMap(Vec<(TypeId, Box<dyn Any + Send + Sync>)>);

/// The types of the states that were given, and whether a handler reads HTTP requests.
pub(crate) struct StateTypes {
    types: Box<[TypeId]>,
    reads_http: ReadsHttp,
}

/// Whether a handler or a layer needs HTTP requests. Once they are needed, they are always kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadsHttp(Arc<AtomicBool>);

impl ReadsHttp {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl StateMap {
    /// Adds a state. Returns `false` if there is a state of this type already, which is kept.
    pub(crate) fn insert<S: Any + Send + Sync>(&mut self, state: S) -> bool {
        let is_new = self.get::<S>().is_none();
        if is_new {
            self.0.push((TypeId::of::<S>(), Box::new(state)));
        }
        is_new
    }

    pub(crate) fn get<S: Any>(&self) -> Option<&S> {
        let (_, state) = self.0.iter().find(|(id, _)| *id == TypeId::of::<S>())?;
        state.downcast_ref()
    }

    pub(crate) fn types(&self, reads_http: &ReadsHttp) -> StateTypes {
        StateTypes {
            types: self.0.iter().map(|(id, _)| *id).collect(),
            reads_http: reads_http.clone(),
        }
    }
}

impl StateTypes {
    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.types.contains(&id)
    }

    /// Notes that a handler needs HTTP requests.
    pub(crate) fn keep_http_requests(&self) {
        self.reads_http.set();
    }
}
