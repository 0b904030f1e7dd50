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

use super::{arguments::Arguments, ask::CallAsks, context::CallContext, task_channel::TaskChannel};
use crate::client::{CancelFlag, Peer, caller::Caller};

/// A call of a tool, prompt, resource or extension method: its name, its arguments and its caller.
///
/// Extractors read it. Layers (middleware) own it (`Call<'static>`) and may attach values with
/// [`Call::insert`] for later layers and extractors.
pub struct Call<'a> {
    pub(crate) context: Arc<CallContext>,
    pub(crate) origin: Origin<'a>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) input: Option<Held<'a>>,
    pub(crate) arguments: Option<Arc<Arguments>>,
    pub(crate) cancel: OnceLock<CancelFlag>,
    pub(crate) asks: CallAsks<'a>,
    pub(crate) extensions: Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
    /// Set for a call that is or may become a task.
    pub(crate) task: Option<Arc<TaskChannel>>,
}

/// The request that a call comes from.
pub(crate) struct Origin<'a> {
    pub(crate) peer: Arc<Peer>,
    pub(crate) revision: Revision,
    pub(crate) id: IdRef<'a>,
    /// Whether the request contains a trace context.
    pub(crate) has_trace: bool,
    pub(crate) meta: Option<Held<'a>>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        context: &Arc<CallContext>,
        origin: Origin<'a>,
        asks: CallAsks<'a>,
        name: Cow<'a, str>,
        input: Option<Held<'a>>,
        arguments: Option<Arc<Arguments>>,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            origin,
            name,
            input,
            arguments,
            cancel: OnceLock::new(),
            asks,
            extensions: Vec::new(),
            task: None,
        }
    }
}

impl Call<'_> {
    /// Returns the name of the tool, prompt or extension method, or the URI of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments as the client sent them: a JSON object, neither parsed nor checked;
    /// `None` if the request has no arguments.
    pub fn raw_arguments(&self) -> Option<&RawValue> {
        self.input.as_ref().map(|input| input.raw().value())
    }

    /// Returns the whole `_meta` of the request, unparsed; `None` if the request has no `_meta`.
    /// [`CallMeta`](crate::CallMeta) parses it.
    pub fn raw_meta(&self) -> Option<&RawValue> {
        self.origin.meta.as_ref().map(|meta| meta.raw().value())
    }

    /// Returns the caller of the request, as the transport or the guard identified it.
    pub fn caller(&self) -> &Caller {
        self.origin.peer.caller()
    }

    /// Returns the revision of the request. Handlers need it only for logs.
    pub fn revision(&self) -> Revision {
        self.origin.revision
    }

    /// Attaches a value to the call, for later layers and extractors. A value of the same type is
    /// replaced.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.extensions.retain(|(id, _)| *id != TypeId::of::<T>());
        self.extensions.push((TypeId::of::<T>(), Box::new(value)));
    }

    /// Returns the value of this type that an earlier layer attached with [`insert`](Self::insert);
    /// `None` if there is no such value.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let (_, value) = self
            .extensions
            .iter()
            .find(|(id, _)| *id == TypeId::of::<T>())?;
        value.downcast_ref()
    }

    /// The settings with which the client declared an extension, in this request or in its
    /// handshake.
    pub(crate) fn client_extension(&self, id: &str) -> Option<serde_json::Value> {
        let find = |client: &ClientCapabilities| client.extension(id).cloned();
        if !self.origin.revision.is_modern() {
            return find(&self.origin.peer.client()?.capabilities);
        }
        let raw = self.request_meta().client_capabilities?;
        find(&serde_json::from_str(raw.get()).ok()?)
    }

    /// The arguments as the client sent them, for code that needs only their text.
    pub(crate) fn input(&self) -> Option<Raw<'_>> {
        self.input.as_ref().map(Held::raw)
    }

    pub(crate) fn request_meta(&self) -> RequestMeta<'_> {
        self.origin
            .meta
            .as_ref()
            .and_then(|meta| RequestMeta::from_raw(meta.raw()))
            .unwrap_or_default()
    }

    /// The flag that is set when the call is cancelled.
    pub(crate) fn cancel_flag(&self) -> CancelFlag {
        self.cancel.get_or_init(CancelFlag::default).clone()
    }

    /// Copies what is borrowed from the message.
    pub(crate) fn into_owned(self) -> Call<'static> {
        Call {
            context: self.context,
            origin: Origin {
                peer: self.origin.peer,
                revision: self.origin.revision,
                id: self.origin.id.into_static(),
                has_trace: self.origin.has_trace,
                meta: self.origin.meta.map(Held::into_owned),
            },
            name: Cow::Owned(self.name.into_owned()),
            input: self.input.map(Held::into_owned),
            arguments: self.arguments,
            cancel: self.cancel,
            asks: self.asks.into_owned(),
            extensions: self.extensions,
            task: self.task,
        }
    }
}
