//! The tool with which a caller signs in to a server.

use std::{borrow::Cow, collections::HashSet, sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tokio::time;
use turnbuckle_protocol::{
    ClientCapabilities, Revision,
    envelope::{Edit, Raw, text_of},
};
use turnbuckle_server::{Caller, ClientChannel, RelayReply, RelayedRequest};

use super::{
    SignIn,
    callers::{CallerCore, Callers, PersonalServer},
};
use crate::{
    operation::{AskRound, Asking, CallIdentity, EntryFacts, ask_session},
    seal::random,
};

/// The key of the gateway's question among those of a call.
pub(crate) const KEY: &str = "turnbuckle.sign-in";

/// The name of the tool, which follows the name of its server.
pub(super) const NAME: &str = "sign_in";

/// How long a request waits for a user who is signing in.
const SIGNED_IN_WITHIN: Duration = Duration::from_mins(5);

/// Finds the server that a sign-in tool of this name belongs to.
pub(super) fn find<'a>(
    servers: &'a [Arc<PersonalServer>],
    name: &str,
) -> Option<&'a Arc<PersonalServer>> {
    let is_meant =
        |server: &&Arc<PersonalServer>| server.access.has_sign_in() && &*server.tool == name;
    servers.iter().find(is_meant)
}

/// The facts about the tool for policies.
pub(super) fn facts(server: &PersonalServer) -> EntryFacts {
    EntryFacts {
        server: server.id.to_string(),
        own: NAME.to_owned(),
        unprefixed: NAME.to_owned(),
        prefixed: vec![server.tool.to_string()],
        annotations: Value::Null,
        fixed: None,
    }
}

/// Adds the sign-in tools to the last page of a list.
pub(super) fn add_tools<'a>(
    result: Vec<u8>,
    missing: impl Iterator<Item = &'a Arc<PersonalServer>>,
) -> Vec<u8> {
    let missing = missing.filter(|server| server.access.has_sign_in());
    let added: Vec<(Arc<str>, String)> = missing
        .map(|server| (Arc::clone(&server.tool), tool(server).to_string()))
        .collect();
    if added.is_empty() {
        return result;
    }
    let Ok(value) = serde_json::from_slice::<&RawValue>(&result) else {
        return result;
    };
    let list = Raw::from(value);
    let next = list.member("nextCursor");
    if next.is_some_and(|cursor| !cursor.is_null()) {
        return result;
    }
    let entries = list.member("tools").map(Raw::elements).unwrap_or_default();
    let mut all: Vec<&str> = entries.iter().map(|entry| entry.get()).collect();
    // A server may have a tool of this name itself.
    let names: HashSet<Cow<'_, str>> = entries
        .iter()
        .filter_map(|entry| text_of(entry.member("name")?))
        .collect();
    let added = added.iter().filter(|(name, _)| !names.contains(&**name));
    all.extend(added.map(|(_, tool)| tool.as_str()));
    let edited = Edit::new(list).set(&["tools"], format!("[{}]", all.join(",")));
    match edited.finish() {
        Ok(edited) => edited.raw().get().as_bytes().to_vec(),
        Err(_) => result,
    }
}

fn tool(server: &PersonalServer) -> Value {
    let id = &server.id;
    json!({
        "name": &*server.tool,
        "description": format!(
            "Signs the user in to server `{id}`. Its tools are available after that."
        ),
        "inputSchema": { "type": "object", "properties": {} },
    })
}

/// A call of a sign-in tool.
pub(super) struct SignInCall {
    server: Arc<PersonalServer>,
    identity: CallIdentity,
    round: Option<AskRound>,
    capabilities: ClientCapabilities,
    revision: Revision,
    front: ClientChannel,
    asking: Arc<Asking>,
}

/// The result of asking the user to visit the URL.
enum Asked {
    /// The user agreed, and the call waits for the end of the sign-in.
    Agreed,
    /// The call ends with this reply, or the client has to answer it first.
    Reply(RelayReply),
}

impl SignInCall {
    /// Reads a request as a call of a sign-in tool. Returns `None` for other requests.
    pub(super) fn read(
        request: &RelayedRequest<'_>,
        servers: &[Arc<PersonalServer>],
        asking: &Arc<Asking>,
    ) -> Option<Self> {
        if request.method() != "tools/call" {
            return None;
        }
        let name = request.members().text("name")?;
        let server = Arc::clone(find(servers, &name)?);
        Some(Self {
            server,
            identity: CallIdentity::of(request),
            round: asking.open(request),
            capabilities: request.capabilities(),
            revision: request.revision(),
            front: request.client_channel().clone(),
            asking: Arc::clone(asking),
        })
    }

    pub(super) fn server(&self) -> &PersonalServer {
        &self.server
    }

    pub(super) async fn run(self, own: &CallerCore, caller: &Caller) -> RelayReply {
        let server = &self.server;
        // The sign-in may have ended since the caller got the URL.
        if !server.access.wants_more(caller)
            && Callers::connect_now(own, server, caller).await
            && own.core.has(&server.id)
        {
            return self.done(own);
        }
        let mut sign_in = match server.access.sign_in(caller).await {
            Ok(sign_in) => sign_in,
            Err(reason) => return self.failed(&reason),
        };
        // Do not ask a user again who has confirmed the sign-in.
        if sign_in.needs_user()
            && let Asked::Reply(reply) = self.ask_user(&sign_in).await
        {
            return reply;
        }
        match time::timeout(SIGNED_IN_WITHIN, sign_in.ended()).await {
            Ok(Ok(())) if Callers::connect_now(own, server, caller).await => self.done(own),
            Ok(Ok(())) => self.failed("the sign-in ended without tokens"),
            Ok(Err(reason)) => self.failed(&reason),
            Err(_) => self.failed("the user did not sign in in time; call this tool again"),
        }
    }

    /// Asks the user to visit the URL, in the form that the client supports.
    async fn ask_user(&self, sign_in: &SignIn) -> Asked {
        if !self.capabilities.has_url_elicitation() {
            return Asked::Reply(self.failed(&format!(
                "open this link in a browser, then call this tool again: {}",
                sign_in.url
            )));
        }
        let message = format!("Sign in to server `{}`.", self.server.id);
        let mut params = json!({ "mode": "url", "message": message, "url": sign_in.url });
        if !self.revision.is_modern() {
            let id = format!("sign-in-{:016x}", u64::from_le_bytes(random()));
            params["elicitationId"] = json!(id);
            return match ask_session(&self.front, &params).await {
                Ok(answer) => self.answered(&answer),
                Err(reject) => Asked::Reply(reject.into()),
            };
        }
        if let Some(answer) = self.round.as_ref().and_then(|round| round.answer.as_ref()) {
            return self.answered(answer);
        }
        let entry = json!({ "method": "elicitation/create", "params": params });
        Asked::Reply(self.asking.ask(&self.identity, &entry, None))
    }

    fn answered(&self, answer: &Value) -> Asked {
        if answer["action"] == "accept" {
            return Asked::Agreed;
        }
        Asked::Reply(self.failed("the user declined to sign in"))
    }

    fn done(&self, own: &CallerCore) -> RelayReply {
        let id = &self.server.id;
        match own.core.failure(id) {
            None => self.result(
                &format!("Signed in to server `{id}`. Its tools are available now."),
                false,
            ),
            Some(reason) => {
                let said = format!("Signed in to server `{id}`, but it does not work: {reason}");
                self.result(&said, true)
            }
        }
    }

    fn failed(&self, reason: &str) -> RelayReply {
        let said = format!("Not signed in to server `{}`: {reason}", self.server.id);
        self.result(&said, true)
    }

    fn result(&self, said: &str, is_error: bool) -> RelayReply {
        let mut result = json!({
            "content": [{ "type": "text", "text": said }],
            "isError": is_error,
        });
        if self.revision.is_modern() {
            result["resultType"] = json!("complete");
        }
        RelayReply::Result(result.to_string().into_bytes())
    }
}
