//! Questions of the gateway itself, asked before a call.
//!
//! A modern client is asked in a result, and its retry contains the answer. The gateway's state
//! until then is sealed in the `requestState` that the client carries, together with the server's
//! own state, if any: the server may ask too, and its retries come through here as well.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnbuckle_protocol::envelope::{Edit, Raw, RawText};
#[cfg(feature = "http")]
use turnbuckle_server::ReplicaLink;
use turnbuckle_server::{ClientChannel, OwnedRelayedRequest, Reject, RelayReply, RelayedRequest};
use turnbuckle_session::round::{KeyRing, RequestDigest};

use super::consents::Consents;
use crate::seal::Sealer;

/// How long a client may take to answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_mins(10);

/// Asks questions before calls, and recognises its questions by their key.
pub(crate) struct Asking {
    key: &'static str,
    sealer: Sealer,
    /// The consents that were given in this process.
    pub(super) consents: Consents,
    /// The link to other replicas of the gateway, once the server is built.
    #[cfg(feature = "http")]
    replicas: std::sync::OnceLock<ReplicaLink>,
}

/// The state that is kept from one round to the next.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskTicket {
    /// The question that was asked.
    asked: String,
    /// The process that asked, and the number of its question. Each answer is used once.
    node: u64,
    number: u64,
    /// Whether the user has already allowed the call.
    is_over: bool,
    /// The state of the server.
    inner: Option<String>,
}

/// A retry of a modern client that was asked before.
pub(crate) struct AskRound {
    /// Whether the question was answered in an earlier round.
    pub(crate) is_over: bool,
    /// The answer, if this round contains it.
    pub(crate) answer: Option<Value>,
    /// The process that asked, and the number of its question.
    pub(super) node: u64,
    pub(super) number: u64,
    inner: Option<String>,
}

/// Identifies a call, to seal the states of its rounds.
pub(crate) struct CallIdentity {
    pub(super) caller: Option<String>,
    digest: RequestDigest,
}

impl CallIdentity {
    pub(crate) fn of(request: &RelayedRequest<'_>) -> Self {
        Self {
            caller: request.caller().id().map(str::to_owned),
            digest: RequestDigest::of(request.method(), request.members()),
        }
    }
}

impl Asking {
    pub(crate) fn new(key: &'static str, keys: Option<KeyRing>) -> Self {
        Self {
            key,
            sealer: Sealer::new(keys),
            consents: Consents::default(),
            #[cfg(feature = "http")]
            replicas: std::sync::OnceLock::new(),
        }
    }

    /// Sets the link to other replicas, before the first question.
    #[cfg(feature = "http")]
    pub(super) fn share(&self, link: ReplicaLink) {
        self.consents.set_node(link.node());
        let _ = self.replicas.set(link);
    }

    /// Lets the replica that asked serve the request with the answer. Returns `None` if that
    /// replica has ended.
    #[cfg(feature = "http")]
    pub(super) async fn elsewhere(
        &self,
        node: u64,
        front: &ClientChannel,
        kept: &OwnedRelayedRequest,
    ) -> Option<RelayReply> {
        let link = self.replicas.get()?;
        link.serve_at(node, front, kept.method(), kept.params())
            .await
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_async, reason = "with HTTP there may be other replicas")]
    pub(super) async fn elsewhere(
        &self,
        _node: u64,
        _front: &ClientChannel,
        _kept: &OwnedRelayedRequest,
    ) -> Option<RelayReply> {
        None
    }

    /// Opens the state of an earlier question. Returns `None` if the state of the request is not
    /// the gateway's.
    pub(crate) fn open(&self, request: &RelayedRequest<'_>) -> Option<AskRound> {
        if !request.revision().is_modern() {
            return None;
        }
        let state = request.members().text("requestState")?;
        let identity = CallIdentity::of(request);
        let opened = self
            .sealer
            .open(&state, identity.caller.as_deref(), identity.digest);
        let ticket: AskTicket = opened.ok()?;
        if ticket.asked != self.key {
            return None;
        }
        let answers = request.members().get("inputResponses");
        let answer = answers.and_then(|answers| answers.member(self.key));
        Some(AskRound {
            is_over: ticket.is_over,
            answer: answer.and_then(|raw| raw.parse().ok()),
            node: ticket.node,
            number: ticket.number,
            inner: ticket.inner,
        })
    }

    /// Asks a modern client. `entry` is the question as JSON; `before` is the earlier round, if any.
    pub(crate) fn ask(
        &self,
        identity: &CallIdentity,
        entry: &Value,
        before: Option<AskRound>,
    ) -> RelayReply {
        let inner = before.and_then(|before| before.inner);
        let sealed = match self.seal(identity, false, inner) {
            Ok(sealed) => sealed,
            Err(reject) => return reject.into(),
        };
        let result = json!({
            "resultType": "input_required",
            "inputRequests": { self.key: entry },
            "requestState": sealed,
        });
        RelayReply::Result(result.to_string().into_bytes())
    }

    /// The params for the server, without the gateway's own state and answers.
    pub(crate) fn pass_on(
        &self,
        request: OwnedRelayedRequest,
        round: &AskRound,
    ) -> Result<OwnedRelayedRequest, Reject> {
        let mut edit = Edit::new(request.params());
        edit = match &round.inner {
            Some(state) => edit.set_text(&["requestState"], state),
            None => edit.drop(&["requestState"]),
        };
        edit = if round.is_over {
            edit.drop(&["inputResponses", self.key])
        } else {
            // The answers of this round are for the gateway only.
            edit.drop(&["inputResponses"])
        };
        let edited = edit
            .finish()
            .map_err(|_| Reject::invalid_params("`params.inputResponses` must be an object"))?;
        Ok(request.with_params(edited))
    }

    /// Seals the state of the server into the gateway's state, so that its retry is not asked again.
    pub(crate) fn wrap(&self, identity: &CallIdentity, reply: RelayReply) -> RelayReply {
        let RelayReply::Result(result) = &reply else {
            return reply;
        };
        if memchr::memmem::find(result, b"\"input_required\"").is_none() {
            return reply;
        }
        match self.wrapped(identity, result) {
            Ok(Some(edited)) => RelayReply::Result(edited),
            Ok(None) => reply,
            Err(reject) => reject.into(),
        }
    }

    fn wrapped(&self, identity: &CallIdentity, result: &[u8]) -> Result<Option<Vec<u8>>, Reject> {
        let Ok(value) = serde_json::from_slice::<&serde_json::value::RawValue>(result) else {
            return Ok(None);
        };
        let result = Raw::from(value);
        let text = |name| {
            let member = result.member(name);
            member.and_then(turnbuckle_protocol::envelope::text_of)
        };
        if text("resultType").as_deref() != Some("input_required") {
            return Ok(None);
        }
        let inner = text("requestState").map(std::borrow::Cow::into_owned);
        let sealed = self.seal(identity, true, inner)?;
        let edited = Edit::new(result).set_text(&["requestState"], &sealed);
        let edited = edited.finish();
        let edited = edited.map_err(|error| Reject::internal(error.to_string()))?;
        Ok(Some(edited.raw().get().as_bytes().to_vec()))
    }

    fn seal(
        &self,
        identity: &CallIdentity,
        is_over: bool,
        inner: Option<String>,
    ) -> Result<String, Reject> {
        let ticket = AskTicket {
            asked: self.key.to_owned(),
            node: self.consents.node(),
            number: self.consents.number(),
            is_over,
            inner,
        };
        let caller = identity.caller.as_deref();
        self.sealer
            .seal(&ticket, caller, identity.digest, ANSWER_WITHIN)
    }
}

impl AskRound {
    /// The state of the server, or of the call that waits for answers.
    pub(super) fn inner(&self) -> Option<&str> {
        self.inner.as_deref()
    }

    /// The round of a request that was not asked yet. Its state, if any, belongs to the server.
    pub(crate) fn first(request: &RelayedRequest<'_>) -> Self {
        let is_modern = request.revision().is_modern();
        let state = request.members().text("requestState").filter(|_| is_modern);
        Self {
            is_over: false,
            answer: None,
            node: 0,
            number: 0,
            inner: state.map(std::borrow::Cow::into_owned),
        }
    }
}

/// Asks the client in its session, and waits for the answer.
pub(crate) async fn ask_session(
    front: &turnbuckle_server::ClientChannel,
    params: &Value,
) -> Result<Value, Reject> {
    let text = params.to_string();
    let raw = serde_json::value::RawValue::from_string(text)
        .map_err(|error| Reject::internal(error.to_string()))?;
    let raw = RawText::from(Raw::from(&*raw));
    let asked = front.ask("elicitation/create", Some(raw.raw()));
    match tokio::time::timeout(ANSWER_WITHIN, asked).await {
        Ok(Some(Ok(answer))) => serde_json::from_str(answer.get())
            .map_err(|_| Reject::invalid_params("the answer must be an object")),
        Ok(Some(Err(error))) => Err(Reject::new(error.code, error.message)),
        Ok(None) => Err(Reject::internal("the client disconnected")),
        Err(_) => Err(Reject::internal(format!(
            "the client did not answer within {ANSWER_WITHIN:?}"
        ))),
    }
}
