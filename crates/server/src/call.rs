//! One call of a tool, a prompt or a resource, as handlers, extractors and layers see it.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use serde_json::value::RawValue;
use turnbuckle_protocol::{IdRef, Revision, envelope::RequestMeta};

use crate::{arguments::Arguments, caller::Caller, cancel::CancelFlag, peer::Peer, shared::Shared};

/// A call: what is called, with what, by whom.
///
/// Extractors read it. Layers own it (`Call<'static>`) and may add values of their own with
/// [`Call::insert`], for extractors further in to find.
pub struct Call<'a> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) revision: Revision,
    pub(crate) id: IdRef<'a>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) input: Option<Cow<'a, RawValue>>,
    pub(crate) meta: Option<Cow<'a, RawValue>>,
    pub(crate) arguments: Option<Arc<Arguments>>,
    pub(crate) cancel: OnceLock<CancelFlag>,
    pub(crate) extensions: Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
}

impl Call<'_> {
    /// The name of the tool or prompt, or the URI of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as they came: a JSON object, unparsed.
    pub fn raw_arguments(&self) -> Option<&RawValue> {
        self.input.as_deref()
    }

    /// The whole `_meta` of the request, unparsed.
    pub fn raw_meta(&self) -> Option<&RawValue> {
        self.meta.as_deref()
    }

    /// Who calls.
    pub fn caller(&self) -> &Caller {
        self.peer.caller()
    }

    /// The revision that this exchange speaks. Handlers have no need of it; logs may.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Puts a value beside the call, for extractors further in.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.extensions.retain(|(id, _)| *id != TypeId::of::<T>());
        self.extensions.push((TypeId::of::<T>(), Box::new(value)));
    }

    /// A value that a layer put beside the call.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let (_, value) = self
            .extensions
            .iter()
            .find(|(id, _)| *id == TypeId::of::<T>())?;
        value.downcast_ref()
    }

    pub(crate) fn request_meta(&self) -> RequestMeta<'_> {
        self.meta
            .as_deref()
            .and_then(RequestMeta::from_raw)
            .unwrap_or_default()
    }

    /// The same call, borrowed from nothing.
    pub(crate) fn into_owned(self) -> Call<'static> {
        Call {
            shared: self.shared,
            peer: self.peer,
            revision: self.revision,
            id: self.id.into_static(),
            name: Cow::Owned(self.name.into_owned()),
            input: self.input.map(|raw| Cow::Owned(raw.into_owned())),
            meta: self.meta.map(|raw| Cow::Owned(raw.into_owned())),
            arguments: self.arguments,
            cancel: self.cancel,
            extensions: self.extensions,
        }
    }
}
