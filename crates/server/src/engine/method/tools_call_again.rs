//! Runs a `tools/call` again that became a task on another replica.

use std::sync::{Arc, Weak};

use turnbuckle_protocol::{
    CallToolResult, SubscriptionFilter,
    envelope::{self, Frame, Message},
};
use turnbuckle_session::{
    Era,
    round::{Journal, seal::NONCE_BYTES},
};
use turnbuckle_transport::Outbox;

use super::tools_call;
use crate::{
    Failure, Fault, Reject,
    client::{CancelFlag, ClientInfo, Opened, Peer, Session},
    engine::{
        Responder, Shared, StartedCall, Target, admission,
        task::{CallStarter, StoredCall},
    },
    handler::TaskChannel,
    quota::CallerKey,
};

/// Restarts calls of other replicas on this server.
pub(crate) struct StartAgain(pub(crate) Weak<Shared>);

impl CallStarter for StartAgain {
    fn start(
        &self,
        call: &StoredCall,
        journal: Journal,
        channel: Arc<TaskChannel>,
    ) -> Result<StartedCall<CallToolResult>, Failure> {
        let shared = self.0.upgrade().ok_or_else(gone)?;
        let text = call.request().ok_or_else(gone)?;
        let Ok(Frame::One(Message::Request(request))) = envelope::parse(&text) else {
            return Err(gone());
        };
        let peer = Arc::new(peer(&shared, call));
        let era = if call.revision.is_modern() {
            Era::Modern
        } else {
            Era::Legacy
        };
        let incoming = admission::admit(&shared, &peer, era, &request)
            .map_err(|inadmissible| Failure::Reject(inadmissible.into_reject()))?;
        match &incoming.target {
            Ok(Target::Tool(tool, name)) if tool.is_restartable => {
                tools_call::start(&shared, &incoming, tool, name, Some(channel), Some(journal))
            }
            Ok(_) => Err(Failure::Reject(Reject::invalid_params(format!(
                "the task cannot continue, because the tool `{}` is no longer restartable: call it \
                 again",
                call.tool
            )))),
            Err(denied) => Err(Failure::Reject(denied.to_reject())),
        }
    }

    fn responder(&self) -> Option<Arc<Responder>> {
        Some(Arc::clone(&self.0.upgrade()?.responder))
    }

    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).ok()?;
        let keys = self.0.upgrade()?.context.asks.keys();
        let sealed = keys.seal_bytes(purpose, bytes, nonce);
        (!sealed.is_empty()).then_some(sealed)
    }

    fn open(&self, purpose: &[u8], mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let keys = self.0.upgrade()?.context.asks.keys();
        let (bytes, _) = keys.open_bytes(purpose, &mut sealed)?;
        Some(bytes)
    }
}

/// The client of the call. It was connected to the other replica, so it gets no messages from here.
/// Notifications about the task are sent by the replica from which the client reads it.
fn peer(shared: &Shared, call: &StoredCall) -> Peer {
    let outbox = Outbox::new(shared.settings.limits);
    outbox.close();
    let caller = call.caller();
    let key = CallerKey::of(&caller);
    let session = call.client.as_ref().map(|client| {
        let opened = Opened {
            client: ClientInfo {
                info: client.info.clone(),
                capabilities: client.capabilities.clone(),
            },
            promised: SubscriptionFilter::new(),
        };
        let session = Session::new(shared.context.changes.hub(), key);
        Arc::new(session.with_handshake(call.revision, opened))
    });
    Peer::new(caller, outbox, session, CancelFlag::default())
}

fn gone() -> Failure {
    Failure::Fault(Fault::new("the stored call of a task cannot be restarted"))
}
