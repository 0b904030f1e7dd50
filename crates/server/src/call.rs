//! One call of a tool, a prompt or a resource, as handlers, extractors and layers see it.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    ClientCapabilities, IdRef, Revision,
    envelope::{Held, Raw, RequestMeta},
};

use crate::{
    arguments::Arguments,
    ask::{Asking, Rounds},
    caller::Caller,
    cancel::CancelFlag,
    method::Incoming,
    peer::Peer,
    shared::Shared,
    task::Board,
};

/// A call: what is called, with what, by whom.
///
/// Extractors read it. Layers own it (`Call<'static>`) and may add values of their own with
/// [`Call::insert`], for extractors further in to find.
pub struct Call<'a> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) revision: Revision,
    pub(crate) id: IdRef<'a>,
    /// Whether the request says anything about a trace.
    pub(crate) has_trace: bool,
    pub(crate) name: Cow<'a, str>,
    pub(crate) input: Option<Held<'a>>,
    pub(crate) meta: Option<Held<'a>>,
    pub(crate) arguments: Option<Arc<Arguments>>,
    pub(crate) cancel: OnceLock<CancelFlag>,
    pub(crate) rounds: Rounds<'a>,
    pub(crate) asking: OnceLock<Arc<Asking>>,
    /// Where the driver looks for the asks of a call that it has handed to layers.
    pub(crate) asking_slot: Option<Arc<OnceLock<Arc<Asking>>>>,
    pub(crate) extensions: Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
    /// Of a call that is or may become a task.
    pub(crate) board: Option<Arc<Board>>,
}

impl<'a> Call<'a> {
    /// The call that a request makes.
    pub(crate) fn of(
        incoming: &'a Incoming<'a>,
        method: &'static str,
        name: Cow<'a, str>,
        input: Option<Held<'a>>,
        arguments: Option<Arc<Arguments>>,
    ) -> Self {
        Self {
            shared: Arc::clone(incoming.shared),
            peer: Arc::clone(incoming.peer),
            revision: incoming.revision,
            id: incoming.id.clone(),
            has_trace: incoming.has_trace,
            name,
            input,
            meta: incoming.params.get("_meta").map(Held::Borrowed),
            arguments,
            cancel: OnceLock::new(),
            rounds: Rounds::Params(method, &incoming.params),
            asking: OnceLock::new(),
            asking_slot: None,
            extensions: Vec::new(),
            board: None,
        }
    }
}

impl Call<'_> {
    /// The name of the tool or prompt, or the URI of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as they came: a JSON object, unparsed.
    pub fn raw_arguments(&self) -> Option<&RawValue> {
        self.input.as_ref().map(|input| input.raw().value())
    }

    /// The whole `_meta` of the request, unparsed.
    pub fn raw_meta(&self) -> Option<&RawValue> {
        self.meta.as_ref().map(|meta| meta.raw().value())
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

    /// What the client declared of an extension, with this request or in the handshake.
    pub(crate) fn client_extension(&self, id: &str) -> Option<serde_json::Value> {
        let find = |client: &ClientCapabilities| client.extension(id).cloned();
        if !self.revision.is_modern() {
            return find(&self.peer.client()?.capabilities);
        }
        let raw = self.request_meta().client_capabilities?;
        find(&serde_json::from_str(raw.get()).ok()?)
    }

    /// The arguments as they came, where their text is enough.
    pub(crate) fn input(&self) -> Option<Raw<'_>> {
        self.input.as_ref().map(Held::raw)
    }

    pub(crate) fn request_meta(&self) -> RequestMeta<'_> {
        self.meta
            .as_ref()
            .and_then(|meta| RequestMeta::from_raw(meta.raw()))
            .unwrap_or_default()
    }

    /// The same call, borrowed from nothing.
    pub(crate) fn into_owned(self) -> Call<'static> {
        Call {
            shared: self.shared,
            peer: self.peer,
            revision: self.revision,
            id: self.id.into_static(),
            has_trace: self.has_trace,
            name: Cow::Owned(self.name.into_owned()),
            input: self.input.map(Held::into_owned),
            meta: self.meta.map(Held::into_owned),
            arguments: self.arguments,
            cancel: self.cancel,
            rounds: self.rounds.into_owned(),
            asking: self.asking,
            asking_slot: self.asking_slot,
            extensions: self.extensions,
            board: self.board,
        }
    }
}
