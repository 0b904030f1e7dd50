//! A call in the form in which it is stored for other replicas.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use turnbuckle_protocol::{ClientCapabilities, Implementation, Revision};

use crate::{
    Caller,
    client::caller::Unauthenticated,
    engine::{Incoming, Target},
    quota::CallerKey,
};

/// The version of the stored form. A replica that does not know the version leaves the task to
/// others.
const VERSION: u8 = 1;

/// A call in the form in which it is stored for other replicas.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    #[serde(rename = "v")]
    version: u8,
    /// The task of the call, so that the stored data cannot be used for another task.
    pub(super) task: String,
    pub(super) owner: String,
    pub(crate) revision: Revision,
    caller: StoredCaller,
    /// Distinguishes callers without an id. The number is valid only in the process where the task
    /// began.
    payer: u64,
    pub(crate) tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) meta: Option<Box<RawValue>>,
    /// The description of itself that the client sent in its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<StoredClient>,
}

/// The parts of a caller that can be stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCaller {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    /// Whether the caller cannot be distinguished from others.
    is_anybody: bool,
}

/// The description of itself that the client sent in its session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredClient {
    pub(crate) info: Option<Implementation>,
    pub(crate) capabilities: ClientCapabilities,
}

impl StoredCall {
    /// Makes the stored form of a request, if it calls a tool that may be restarted on another
    /// replica.
    pub(super) fn of(incoming: &Incoming<'_>, task: &str, owner: String) -> Option<Self> {
        let Ok(Target::Tool(tool, name)) = &incoming.target else {
            return None;
        };
        if !tool.is_restartable {
            return None;
        }
        let member = |name| {
            let raw = incoming.params.get(name)?;
            RawValue::from_string(raw.get().to_owned()).ok()
        };
        let (peer, caller) = (incoming.peer, incoming.caller());
        let client = peer.client().map(|client| StoredClient {
            info: client.info,
            capabilities: client.capabilities,
        });
        Some(Self {
            version: VERSION,
            task: task.to_owned(),
            owner,
            revision: incoming.revision,
            caller: StoredCaller {
                id: caller.id().map(str::to_owned),
                scopes: caller.scopes().to_vec(),
                is_anybody: !caller.is_identified(),
            },
            payer: peer.quota_key().number(),
            tool: name.clone().into_owned(),
            arguments: member("arguments"),
            meta: member("_meta"),
            client,
        })
    }

    /// Parses the stored form of a call, and checks that it belongs to this task.
    pub(super) fn read(text: &[u8], owner: &str, task: &str) -> Option<Self> {
        let call: Self = serde_json::from_slice(text).ok()?;
        // The id of a task is the name of its first replica, followed by the id stored here.
        let is_of_task = task.ends_with(&*call.task) && call.owner == owner;
        (call.version == VERSION && is_of_task).then_some(call)
    }

    /// Returns the caller, as far as another replica can know it.
    pub(crate) fn caller(&self) -> Caller {
        let caller = match &self.caller.id {
            Some(id) => Caller::new(&**id).with_scopes(self.caller.scopes.iter().cloned()),
            None => Caller::local(),
        };
        if self.caller.is_anybody {
            caller.with(Unauthenticated)
        } else {
            caller
        }
    }

    /// Returns the caller against whose quota the task counts on this replica.
    pub(super) fn payer(&self) -> CallerKey {
        match &self.caller.id {
            Some(_) => CallerKey::of(&self.caller()),
            None => CallerKey::digest((4_u8, self.payer)),
        }
    }

    /// Returns the request as JSON, to serve it again.
    #[cfg(feature = "http")]
    pub(crate) fn request(&self) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct Request<'a> {
            jsonrpc: &'static str,
            id: &'a str,
            method: &'static str,
            params: Params<'a>,
        }
        #[derive(Serialize)]
        struct Params<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            arguments: Option<&'a RawValue>,
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            meta: Option<&'a RawValue>,
        }
        let request = Request {
            jsonrpc: "2.0",
            id: &self.task,
            method: "tools/call",
            params: Params {
                name: &self.tool,
                arguments: self.arguments.as_deref(),
                meta: self.meta.as_deref(),
            },
        };
        serde_json::to_vec(&request).ok()
    }
}
