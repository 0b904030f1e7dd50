//! What the server was given with `.state(…)`.

use std::any::{Any, TypeId};

/// Values by their types.
#[derive(Default)]
pub(crate) struct StateMap(Vec<(TypeId, Box<dyn Any + Send + Sync>)>);

/// The types of the states that were given.
pub(crate) struct StateTypes(Box<[TypeId]>);

impl StateMap {
    pub(crate) fn insert<S: Any + Send + Sync>(&mut self, state: S) {
        self.0.retain(|(id, _)| *id != TypeId::of::<S>());
        self.0.push((TypeId::of::<S>(), Box::new(state)));
    }

    pub(crate) fn get<S: Any>(&self) -> Option<&S> {
        let (_, state) = self.0.iter().find(|(id, _)| *id == TypeId::of::<S>())?;
        state.downcast_ref()
    }

    pub(crate) fn types(&self) -> StateTypes {
        StateTypes(self.0.iter().map(|(id, _)| *id).collect())
    }
}

impl StateTypes {
    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.0.contains(&id)
    }
}
