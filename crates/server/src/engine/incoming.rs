//! An admitted request.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::{
    ClientCapabilities, CompleteRequestParams, IdRef, Revision,
    envelope::{Held, Members, Raw},
};

use super::{answer, sink::Sink};
use crate::{
    Call, Caller, Reject,
    catalog::{Found, PromptEntry, TemplateEntry, ToolEntry, extension::MethodEntry},
    client::Peer,
    handler::{Arguments, CallContext, ask::CallAsks, call::Origin},
};

/// An admitted request, with everything that admission determined about it. Transports create it
/// once; the checks of headers and scopes and the methods read it.
pub(crate) struct Incoming<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    pub(crate) revision: Revision,
    pub(crate) id: &'a IdRef<'a>,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Members<'a>,
    /// Whether the request contains a trace context.
    pub(crate) has_trace: bool,
    /// The entry that the request names, if this caller may use it.
    pub(crate) target: Result<Target<'a>, Denied>,
}

/// The entry that a request names.
pub(crate) enum Target<'a> {
    /// `tools/call`, with the name.
    Tool(Arc<ToolEntry>, Cow<'a, str>),
    /// `prompts/get`, with the name.
    Prompt(Arc<PromptEntry>, Cow<'a, str>),
    /// `resources/read` or `resources/subscribe`, with the URI.
    Resource(Arc<Found>, Cow<'a, str>),
    /// `completion/complete`, with its parsed params and the entry whose argument is completed.
    Completion(Box<CompleteRequestParams>, Completable),
    /// A method of an extension.
    Extension(Arc<MethodEntry>),
    /// The method uses no entry of the catalog.
    Nothing,
}

/// An entry whose arguments can be completed.
pub(crate) enum Completable {
    Prompt(Arc<PromptEntry>),
    Template(Arc<TemplateEntry>),
}

/// The reason why an entry cannot be used.
pub(crate) enum Denied {
    /// The target does not exist for this caller, or the request does not name it.
    Reject(Reject),
    /// The caller lacks scopes that the tool needs.
    Scopes(Arc<ToolEntry>),
}

impl From<Reject> for Denied {
    fn from(reject: Reject) -> Self {
        Self::Reject(reject)
    }
}

impl Denied {
    /// Returns the error for transports that have no status for it.
    pub(crate) fn to_reject(&self) -> Reject {
        match self {
            Self::Reject(reject) => reject.clone(),
            Self::Scopes(tool) => {
                let (name, wanted) = (&tool.wire.name, tool.scopes.join(" "));
                let message = format!("the tool `{name}` needs the scopes `{wanted}`");
                Reject::invalid_request(message)
            }
        }
    }
}

impl<'a> Incoming<'a> {
    pub(crate) fn caller(&self) -> &'a Caller {
        self.peer.caller()
    }

    /// Appends an error response.
    pub(crate) fn refuse(&self, reject: Reject, out: &mut impl Sink) {
        out.put(|out| answer::write_reject(self.revision, self.id, reject, out));
    }

    /// Appends a result that is an empty object.
    pub(crate) fn answer_empty(&self, out: &mut impl Sink) {
        out.put(|out| answer::write_empty(self.id, out));
    }

    /// Appends an empty result, or the error.
    pub(crate) fn acknowledge(&self, done: Result<(), Reject>, out: &mut impl Sink) {
        match done {
            Ok(()) => self.answer_empty(out),
            Err(reject) => self.refuse(reject, out),
        }
    }

    /// Makes the call for this request.
    pub(crate) fn call(
        &'a self,
        context: &Arc<CallContext>,
        method: &'static str,
        name: Cow<'a, str>,
        input: Option<Held<'a>>,
        arguments: Option<Arc<Arguments>>,
    ) -> Call<'a> {
        let origin = Origin {
            peer: Arc::clone(self.peer),
            revision: self.revision,
            id: self.id.clone(),
            has_trace: self.has_trace,
            meta: self.params.get("_meta").map(Held::Borrowed),
        };
        let asks = CallAsks::new(method, self.params);
        Call::new(context, origin, asks, name, input, arguments)
    }

    /// Returns the arguments of a call, if there are any. Some clients write null for no arguments.
    pub(crate) fn arguments(&self) -> Result<Option<Raw<'a>>, Reject> {
        let arguments = self.params.get("arguments");
        let arguments = arguments.filter(|raw| !raw.is_null());
        if arguments.is_some_and(|raw| !raw.is_object()) {
            return Err(Reject::invalid_params(
                "`params.arguments` must be an object",
            ));
        }
        Ok(arguments)
    }

    /// Whether the client declared an extension, in this request or in its handshake.
    pub(crate) fn declares(&self, extension: &str) -> bool {
        if !self.revision.is_modern() {
            let client = self.peer.client();
            return client.is_some_and(|client| client.capabilities.extension(extension).is_some());
        }
        let declared = self.params.meta().and_then(|meta| meta.client_capabilities);
        let declared = declared.and_then(|raw| raw.parse::<ClientCapabilities>().ok());
        declared.is_some_and(|client| client.extension(extension).is_some())
    }

    /// Returns a member of `params` that must be a string.
    pub(crate) fn text(&self, name: &str) -> Result<Cow<'a, str>, Reject> {
        text(self.params, name)
    }

    /// Returns the cursor of a list request, if there is one.
    pub(crate) fn cursor(&self) -> Result<Option<Cow<'a, str>>, Reject> {
        match self.params.get("cursor") {
            None => Ok(None),
            Some(raw) if raw.is_null() => Ok(None),
            Some(_) => self.text("cursor").map(Some),
        }
    }
}

/// Returns a member of `params` that must be a string.
pub(super) fn text<'a>(params: &Members<'a>, name: &str) -> Result<Cow<'a, str>, Reject> {
    params
        .text(name)
        .ok_or_else(|| Reject::invalid_params(format!("`params.{name}` must be a string")))
}
