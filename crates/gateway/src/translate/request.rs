//! Converts requests of clients to the server's revision.

use std::sync::{Arc, OnceLock, Weak};

use serde_json::{json, value::RawValue};
use turnbuckle_protocol::{
    ClientCapabilities, Implementation, JsonObject, LoggingLevel, Lower, Revision, TASKS_EXTENSION,
    envelope::{Edit, Members, NotAnObject, Raw, RawText},
};
use turnbuckle_server::{ClientChannel, Reject, RelayedRequest};
use turnbuckle_session::round::RequestDigest;

use crate::{
    observe::RequestRecord,
    operation::{Admitted, Running},
    spelling::is_variant_of_any,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The longest params, in bytes, of a request that is repeated.
const MAX_ABOUT_TASK: usize = 4 * 1024;

/// A client's request in a form that outlives its message.
pub(crate) struct FrontRequest {
    pub(crate) method: String,
    params: Option<RawText>,
    pub(crate) revision: Revision,
    /// Shared among parked calls.
    pub(crate) capabilities: Arc<ClientCapabilities>,
    pub(crate) info: Option<Implementation>,
    pub(crate) log_level: Option<LoggingLevel>,
    /// The progress token of the client, as JSON.
    pub(crate) token: Option<Box<str>>,
    front: Front,
    /// See [`digest`](Self::digest).
    digest: OnceLock<RequestDigest>,
    pub(crate) responses: Option<RawText>,
    pub(crate) state: Option<String>,
    /// The record of the request, if a recorder is set.
    pub(crate) record: Option<Arc<RequestRecord>>,
    /// The mark with which the call is counted as running, until the request is answered.
    pub(crate) running: Weak<Running>,
}

/// The client of a request.
enum Front {
    Waiting(ClientChannel),
    /// The client has its reply, and cannot be reached before it returns. This is its caller.
    Answered(Option<Box<str>>),
}

/// The parts of a request that differ between the client and the server.
#[derive(Default)]
pub(crate) struct Own<'a> {
    /// The server's own name of the tool or prompt, and the path of the name in the params.
    pub(crate) name: Option<(&'a [&'static str], &'a str)>,
    /// Arguments that the gateway sets.
    pub(crate) fixed: Option<&'a JsonObject>,
    /// Whether a modern server may create a task for a legacy client.
    pub(crate) has_tasks: bool,
}

/// What a retry to the server carries from the previous round.
#[derive(Clone)]
pub(crate) enum Round {
    /// The request is not a retry.
    None,
    /// The params already contain the answers; this is the server's own state.
    Retry(Option<String>),
    /// The request is not a retry, and requests a task.
    Task,
    /// The answers that the gateway has collected, and the server's own state.
    Answers(String, Option<String>),
}

impl FrontRequest {
    pub(crate) fn new(request: &RelayedRequest<'_>, record: Option<Arc<RequestRecord>>) -> Self {
        let members = request.members();
        let is_modern = request.revision().is_modern();
        let token = request.meta().and_then(|meta| meta.progress_token);
        let round = |name| members.get(name).filter(|raw| is_modern && !raw.is_null());
        Self {
            method: request.method().to_owned(),
            params: request.params().map(RawText::from),
            revision: request.revision(),
            capabilities: Arc::new(request.capabilities()),
            // A modern client describes itself in its params, which are passed on.
            info: (!is_modern).then(|| request.client_info()).flatten(),
            log_level: request.log_level(),
            token: token.map(|raw| raw.get().into()),
            front: Front::Waiting(request.client_channel().clone()),
            digest: OnceLock::new(),
            responses: round("inputResponses").map(RawText::from),
            state: round("requestState").map(|raw| super::text_of(raw).unwrap_or_default()),
            record,
            running: Admitted::running(request),
        }
    }

    /// Makes a `tasks/get` request of this client, which contains only the task and the client's
    /// capabilities. Returns `None` if that is too long to keep.
    pub(crate) fn about_task(request: &RelayedRequest<'_>, id: &str) -> Option<Self> {
        let capabilities = request.capabilities();
        let meta = json!({ VERSION: request.revision().as_str(), CAPABILITIES: &capabilities });
        let params = json!({ "taskId": id, "_meta": meta }).to_string();
        if params.len() > MAX_ABOUT_TASK {
            return None;
        }
        let params = RawValue::from_string(params).ok()?;
        Some(Self {
            method: "tasks/get".to_owned(),
            params: Some(RawText::from(Raw::from(&params))),
            revision: request.revision(),
            capabilities: Arc::new(capabilities),
            info: None,
            log_level: None,
            token: None,
            front: Front::Waiting(request.client_channel().clone()),
            digest: RequestDigest::named("tasks/get", id).into(),
            responses: None,
            state: None,
            record: None,
            running: Weak::new(),
        })
    }

    /// The parts of the request that are kept while its client is asked. The arguments are dropped,
    /// because they have been sent, and so is the channel to the client, because it has its reply.
    /// `capabilities` are the request's own, shared with other requests.
    pub(crate) fn at_rest(&self, capabilities: Arc<ClientCapabilities>) -> Self {
        let digest = self.digest();
        let members = ["name", "uri"].iter().filter_map(|name| {
            let value = self.params().member(name)?;
            Some(format!("\"{name}\":{}", value.get()))
        });
        let params = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let params = RawValue::from_string(params).ok();
        Self {
            method: self.method.clone(),
            params: params.map(|params| RawText::from(Raw::from(&params))),
            revision: self.revision,
            capabilities,
            info: None,
            log_level: self.log_level,
            token: None,
            front: Front::Answered(self.caller().map(Into::into)),
            digest: digest.into(),
            responses: self.responses.clone(),
            state: None,
            record: self.record.clone(),
            running: Weak::clone(&self.running),
        }
    }

    /// The channel to the client, while the client waits for its reply.
    pub(crate) fn front(&self) -> Option<&ClientChannel> {
        match &self.front {
            Front::Waiting(front) => Some(front),
            Front::Answered(_) => None,
        }
    }

    pub(crate) fn caller(&self) -> Option<&str> {
        match &self.front {
            Front::Waiting(front) => front.caller().id(),
            Front::Answered(caller) => caller.as_deref(),
        }
    }

    /// Whether the caller is identified.
    pub(crate) fn is_identified(&self) -> bool {
        self.front()
            .is_some_and(|front| front.caller().is_identified())
    }

    /// The log level of the session of a legacy client.
    pub(crate) fn session_log_level(&self) -> Option<LoggingLevel> {
        self.front()?.session_log_level()
    }

    /// Notifies the session of a legacy client when the visit with this id is over.
    pub(crate) fn expect_visit(&self, id: &str) {
        if let Some(front) = self.front() {
            front.expect_visit(id);
        }
    }

    /// A digest that is the same for the request and all its retries. It is computed on demand,
    /// because few requests are retried and all arguments have to be read for it.
    pub(crate) fn digest(&self) -> RequestDigest {
        *self.digest.get_or_init(|| {
            let members = Members::of(self.params()).unwrap_or_default();
            let digest = RequestDigest::of(&self.method, &members);
            if let Some(record) = &self.record {
                record.set_digest(digest);
            }
            digest
        })
    }

    /// The params as the client sent them.
    pub(crate) fn params(&self) -> Raw<'_> {
        self.params.as_ref().map_or(Raw::EMPTY_OBJECT, RawText::raw)
    }

    /// Whether a legacy client requests that the call runs as a task.
    pub(crate) fn wants_task(&self) -> bool {
        self.method == "tools/call"
            && self.revision.rules().task_fields
            && self.params().member("task").is_some_and(Raw::is_object)
    }

    /// The string at this path in the params.
    pub(crate) fn text(&self, path: &[&str]) -> Option<String> {
        self.params().at(path).and_then(super::text_of)
    }

    /// Refuses arguments with a name that a server could read as that of a fixed argument.
    fn check_fixed(&self, fixed: &JsonObject) -> Result<(), Reject> {
        let Some(arguments) = self.params().member("arguments") else {
            return Ok(());
        };
        let exact: Vec<&str> = fixed.keys().map(String::as_str).collect();
        let arguments = Members::of(arguments);
        let arguments = arguments.ok_or_else(|| {
            Reject::invalid_params("`params.arguments` must be an object without duplicate members")
        })?;
        let variant = arguments
            .iter()
            .map(|(name, _)| name)
            .find(|name| is_variant_of_any(name, &exact));
        variant.map_or(Ok(()), |name| {
            Err(Reject::invalid_params(format!("unknown argument {name:?}")))
        })
    }

    /// The params for a server of this revision.
    pub(crate) fn params_for(
        &self,
        to: Revision,
        own: &Own<'_>,
        round: &Round,
    ) -> Result<Option<RawText>, Reject> {
        let capabilities;
        let info;
        let level;
        let mut edit = Edit::new(self.params());
        if let Some((path, name)) = own.name {
            edit = edit.set_text(path, name);
        }
        if let Some(fixed) = own.fixed {
            self.check_fixed(fixed)?;
        }
        for (name, value) in own.fixed.into_iter().flatten() {
            edit = edit.set(&["arguments", name.as_str()], value.to_string());
        }
        match (self.revision.is_modern(), to.is_modern()) {
            (true, false) => {
                edit = edit
                    .drop(&["_meta", VERSION])
                    .drop(&["_meta", CAPABILITIES])
                    .drop(&["_meta", INFO])
                    .drop(&["_meta", LEVEL])
                    .drop(&["inputResponses"])
                    .drop(&["requestState"]);
                // tasks: a `task` parameter of a session is not valid here, unless the gateway sets it.
                if !matches!(round, Round::Task) {
                    edit = edit.drop(&["task"]);
                }
            }
            (false, true) => {
                capabilities = self.declared(to, own.has_tasks);
                edit = edit
                    .set_text(&["_meta", VERSION], to.as_str())
                    .set(&["_meta", CAPABILITIES], capabilities)
                    .drop(&["task"]);
                if let Some(client) = &self.info {
                    info = json!(client).to_string();
                    edit = edit.set(&["_meta", INFO], info);
                }
                // logging: no log messages are requested before the session has set a level.
                if let Some(wanted) = self.log_level {
                    level = json!(wanted).to_string();
                    edit = edit.set(&["_meta", LEVEL], level);
                }
            }
            (true, true) | (false, false) => {}
        }
        edit = match round {
            Round::None => edit,
            Round::Task => edit.set(&["task"], "{}"),
            Round::Retry(None) => edit.drop(&["requestState"]),
            Round::Retry(Some(state)) => edit.set_text(&["requestState"], state),
            Round::Answers(answers, state) => {
                let edit = edit.set(&["inputResponses"], answers.clone());
                match state {
                    Some(state) => edit.set_text(&["requestState"], state),
                    None => edit.drop(&["requestState"]),
                }
            }
        };
        if self.method == "completion/complete" && !has_completion_context(to) {
            edit = edit.drop(&["context"]);
        }
        if edit.is_empty() {
            return Ok(self.params.clone());
        }
        let edited = edit.finish().map_err(|NotAnObject { member, .. }| {
            Reject::invalid_params(format!("`params.{member}` must be an object"))
        })?;
        let is_empty = self.params.is_none() && edited.raw().get() == "{}";
        Ok((!is_empty).then_some(edited))
    }

    /// The client's capabilities in the form of a revision, as JSON.
    fn declared(&self, to: Revision, has_tasks: bool) -> String {
        let mut capabilities = ClientCapabilities::clone(&self.capabilities);
        capabilities.lower(to);
        if has_tasks {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION.to_owned(), JsonObject::new().into());
        }
        json!(capabilities).to_string()
    }
}

/// Whether a revision has the context of a completion, which was added together with elicitation.
fn has_completion_context(revision: Revision) -> bool {
    let mut forms = ClientCapabilities::new().with_form_elicitation();
    forms.lower(revision);
    forms.elicitation.is_some()
}
