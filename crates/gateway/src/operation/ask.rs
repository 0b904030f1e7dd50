//! Asks the user before a call.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::{Value, json};
use turnbuckle_protocol::{
    Revision,
    error::code,
    method::{Direction, available},
};
use turnbuckle_server::{
    ClientChannel, OwnedRelayedRequest, Reject, Relay, RelayReply, RelayedRequest,
};

use super::{
    asking::{AskRound, Asking, CallIdentity, ask_session},
    consents::{Used, joined},
    subject::Subject,
};

/// The key of the gateway's question among those of a call.
pub(super) const KEY: &str = "turnbuckle.confirm";

/// How many characters of the arguments are shown to the user.
const MAX_SHOWN: usize = 2_000;

/// A question whether a call is allowed.
pub(super) struct Confirm {
    message: String,
    name: String,
}

impl Confirm {
    pub(super) fn new(subject: &Subject<'_>) -> Self {
        let what = match subject.facts.own.as_str() {
            "" => subject.name,
            own => own,
        };
        let server = match subject.facts.server.as_str() {
            "" => String::new(),
            server => format!(" of server `{server}`"),
        };
        let what = visible(what);
        let mut message = format!("Allow {} `{what}`{server}?", subject.kind.as_str());
        if let Some(arguments) = &subject.arguments {
            message.push_str("\n\nArguments:\n");
            message.push_str(&shown(arguments));
        }
        Self {
            message,
            name: subject.name.to_owned(),
        }
    }

    /// The params of the elicitation. A form needs no `mode` in any revision.
    fn params(&self) -> Value {
        json!({
            "message": self.message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "allow": { "type": "boolean", "title": "Allow this call" },
                },
                "required": ["allow"],
            },
        })
    }

    /// Whether the user's answer allows the call.
    fn is_allowed(answer: &Value) -> bool {
        answer["action"] == "accept" && answer["content"]["allow"] == true
    }

    fn declined(&self) -> Reject {
        let said = format!("the user did not allow `{}`", self.name);
        Reject::new(code::FORBIDDEN, said)
    }

    fn unaskable(&self, revision: Revision) -> Reject {
        let said = format!(
            "`{}` needs the user's consent for each call, and this client cannot ask: it does not \
             declare form elicitation",
            self.name
        );
        if revision.is_modern() {
            let needed = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
            return Reject::new(code::MISSING_REQUIRED_CLIENT_CAPABILITY, said).with_data(needed);
        }
        Reject::new(code::FORBIDDEN, said)
    }
}

/// Asks before a call is served. Returns `None` if the server's own answer is to be used.
pub(super) fn serve(
    asking: &Arc<Asking>,
    confirm: Confirm,
    request: &RelayedRequest<'_>,
    inner: &Arc<dyn Relay>,
) -> BoxFuture<'static, RelayReply> {
    let revision = request.revision();
    let identity = CallIdentity::of(request);
    let now = |reply: RelayReply| -> BoxFuture<'static, RelayReply> {
        Box::pin(std::future::ready(reply))
    };
    if let Some(round) = asking.open(request) {
        let answer = round.answer.as_ref();
        if round.is_over || answer.is_some_and(Confirm::is_allowed) {
            let allowed = Allowed {
                asking: Arc::clone(asking),
                inner: Arc::clone(inner),
                kept: request.to_owned_request(),
                front: request.client_channel().clone(),
                confirm,
                identity,
                round,
            };
            return Box::pin(allowed.run());
        }
        return now(match answer {
            Some(_) => confirm.declined().into(),
            // The client sent the state without an answer.
            None => asking.ask(&identity, &entry(&confirm), Some(round)),
        });
    }
    // A client of an older revision does not support the question, whatever it declares.
    let is_known =
        revision.is_modern() || available("elicitation/create", revision, Direction::ToClient);
    if !is_known || !request.capabilities().has_form_elicitation() {
        return now(confirm.unaskable(revision).into());
    }
    let round = AskRound::first(request);
    if revision.is_modern() {
        return now(asking.ask(&identity, &entry(&confirm), Some(round)));
    }
    let (kept, front, inner) = (
        request.to_owned_request(),
        request.client_channel().clone(),
        Arc::clone(inner),
    );
    Box::pin(async move {
        let answer = match ask_session(&front, &confirm.params()).await {
            Ok(answer) => answer,
            Err(reject) => return reject.into(),
        };
        if !Confirm::is_allowed(&answer) {
            return confirm.declined().into();
        }
        served(&kept, &inner).await
    })
}

/// A call of a modern client that the user has allowed, in this round or an earlier one.
struct Allowed {
    asking: Arc<Asking>,
    inner: Arc<dyn Relay>,
    kept: OwnedRelayedRequest,
    front: ClientChannel,
    confirm: Confirm,
    identity: CallIdentity,
    round: AskRound,
}

impl Allowed {
    /// Runs the call in the process that asked: once for each consent, and once for each round of a
    /// call in which the server itself asks.
    async fn run(self) -> RelayReply {
        let consents = &self.asking.consents;
        if self.round.node != consents.node() {
            let there = self
                .asking
                .elsewhere(self.round.node, &self.front, &self.kept);
            if let Some(reply) = there.await {
                return reply;
            }
            // It is no longer known whether the call ran there, so ask the user again.
            let entry = entry(&self.confirm);
            return self.asking.ask(&self.identity, &entry, Some(self.round));
        }
        let caller = self.identity.caller.as_deref();
        match consents.spend(caller, self.round.number).await {
            Used::Now(ending) => {
                let work = resume(
                    &self.asking,
                    self.identity,
                    self.kept,
                    &self.round,
                    &self.inner,
                );
                let reply = work.await;
                ending.end(&reply);
                reply
            }
            Used::Before(reply) => joined(reply).await,
            Used::Refused(reject) => reject.into(),
        }
    }
}

/// Continues a call of a modern client that the user has allowed, in this round or an earlier one.
pub(super) fn resume(
    asking: &Arc<Asking>,
    identity: CallIdentity,
    kept: OwnedRelayedRequest,
    round: &AskRound,
    inner: &Arc<dyn Relay>,
) -> BoxFuture<'static, RelayReply> {
    let kept = match asking.pass_on(kept, round) {
        Ok(kept) => kept,
        Err(reject) => return Box::pin(std::future::ready(reject.into())),
    };
    let (asking, inner) = (Arc::clone(asking), Arc::clone(inner));
    Box::pin(async move {
        let reply = served(&kept, &inner).await;
        asking.wrap(&identity, reply)
    })
}

async fn served(kept: &OwnedRelayedRequest, inner: &Arc<dyn Relay>) -> RelayReply {
    match kept.serve(&**inner) {
        Some(work) => work.await,
        None => Reject::internal("this request cannot be served after the user was asked").into(),
    }
}

fn entry(confirm: &Confirm) -> Value {
    json!({ "method": "elicitation/create", "params": confirm.params() })
}

/// Formats arguments for the user, and cuts off long ones. The user is told how much is missing.
fn shown(arguments: &Value) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    // JSON has no control characters in its strings, so these lines are the layout.
    let lines: Vec<_> = text.lines().map(visible).collect();
    let text = lines.join("\n");
    match text.char_indices().nth(MAX_SHOWN) {
        None => text,
        Some((end, _)) => {
            let missing = text[end..].chars().count();
            format!(
                "{} …\n\nWARNING: {missing} more characters of the arguments are not shown.",
                &text[..end]
            )
        }
    }
}

/// Text of a client with its control characters, and those that hide or reorder text, as escapes.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => shown.extend(letter.escape_unicode()),
            _ if letter.is_control() => shown.extend(letter.escape_default()),
            _ => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_cannot_hide_or_reorder_what_the_user_sees() {
        let arguments = json!({ "a": "ok\n\u{202e}x\u{200b}\u{7f}\u{85}", "b": "日本 👩‍👩‍👧" });
        let text = shown(&arguments);
        for part in [r"ok\n\u{202e}x\u{200b}\u{7f}\u{85}", "日本 👩‍👩‍👧"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(visible("a\nb\u{1b}[2J"), r"a\nb\u{1b}[2J");
    }

    #[test]
    fn the_user_is_told_how_much_is_not_shown() {
        let text = shown(&json!({ "a": "ä".repeat(MAX_SHOWN), "b": 1 }));
        assert!(
            text.contains("WARNING: 23 more characters of the arguments"),
            "{text}"
        );
    }
}
