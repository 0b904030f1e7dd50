//! Passes requests on to other replicas, for relays.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use turnbuckle_protocol::{
    envelope::{self, Frame, Message as Incoming, Raw, RawText},
    error::code,
};
use turnbuckle_store::bus::{NodeId, Recipient};

use super::{ClientChannel, RelayReply};
use crate::{
    Reject,
    replica::{CallFailed, Message, Outcome, Replicas},
};

/// How long the other replica waits for new events before it answers that there are none.
const WAIT: Duration = Duration::from_secs(10);

/// How much longer its answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How long the other replica may be silent before the client is told to try again. It takes up to
/// six seconds to know whether a replica has ended.
const MAX_SILENT: Duration = Duration::from_secs(8);

/// How long to wait before asking a silent replica again.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// How many times in a row the other replica may fail to answer in time.
const MAX_LATE: usize = 3;

/// The id of the request at the other replica. It is the only request there on its connection.
const ID: &str = "1";

/// A handle to the other replicas of a server with [`Server::replicas`](crate::Server::replicas).
/// Get it with [`LiveServer::replica_link`](crate::LiveServer::replica_link). Clones refer to the
/// same replicas.
#[derive(Clone)]
pub struct ReplicaLink(Arc<Replicas>);

impl ReplicaLink {
    pub(crate) fn new(replicas: &Arc<Replicas>) -> Self {
        Self(Arc::clone(replicas))
    }

    /// Returns the number of this replica, by which other replicas address it.
    pub fn node(&self) -> u64 {
        self.0.node.number()
    }

    /// Returns the numbers of the other replicas that this replica knows to be alive.
    pub fn others(&self) -> Vec<u64> {
        let nodes = self.0.nodes().into_iter().map(NodeId::number);
        nodes.filter(|number| *number != self.node()).collect()
    }

    /// Lets another replica serve a request of a client of 2026-07-28, and passes the notifications
    /// of that replica on to the client. Returns `None` if that replica has ended. If it cannot be
    /// reached or is busy, returns an error that tells the client to try again.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request at the other replica.
    pub async fn serve_at(
        &self,
        node: u64,
        channel: &ClientChannel,
        method: &str,
        params: Raw<'_>,
    ) -> Option<RelayReply> {
        let run = RemoteRun {
            replicas: Arc::clone(&self.0),
            node: NodeId::new(node),
            key: self.0.new_key(),
        };
        let caller = channel.caller();
        let method = serde_json::to_string(method).unwrap_or_default();
        let params = params.get();
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":{method},"params":{params}}}"#);
        let (mut after, mut late) = (0, 0);
        // The request may be large, so it is not sent again once the other replica has it.
        let mut is_there = false;
        let mut silent_since = None;
        loop {
            let message = Message::Run {
                key: run.key.clone(),
                caller: caller.id().map(str::to_owned),
                scopes: caller.scopes().to_vec(),
                request: if is_there {
                    String::new()
                } else {
                    request.clone()
                },
                after,
                wait_ms: u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX),
            };
            let called = run.replicas.call(run.node, message, WAIT + ANSWER_WITHIN);
            let pulled = match called.await {
                Ok(Outcome::Pulled(pulled)) => pulled,
                Err(CallFailed::NoSuchNode) if self.0.is_gone(run.node) => return None,
                // Silent for a moment. Whether the replica has ended is known a little later.
                Err(CallFailed::NoSuchNode) => {
                    let since = *silent_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= MAX_SILENT {
                        return Some(try_again("the replica cannot be reached"));
                    }
                    sleep(ASK_AGAIN).await;
                    continue;
                }
                Ok(_) => return Some(try_again("the replica is busy")),
                Err(CallFailed::Late) if late < MAX_LATE => {
                    late += 1;
                    continue;
                }
                Err(failed @ CallFailed::Late) => return Some(try_again(&failed.to_string())),
            };
            late = 0;
            is_there = true;
            silent_since = None;
            for line in pulled.events.lines() {
                after += 1;
                match reply(line) {
                    Some(reply) => return Some(reply),
                    None => channel.pass_on(line).await,
                }
            }
            if pulled.is_over {
                return Some(try_again("the replica stopped before it answered"));
            }
        }
    }
}

fn try_again(reason: &str) -> RelayReply {
    let message = format!("{reason}: send the request again");
    Reject::new(code::INTERNAL_ERROR, message).into()
}

/// Reads a message as the answer to the request; `None` if it is another message.
fn reply(line: &str) -> Option<RelayReply> {
    let Ok(Frame::One(Incoming::Response(response))) = envelope::parse(line.as_bytes()) else {
        return None;
    };
    Some(match response.outcome {
        Ok(result) => RelayReply::Result(result.get().as_bytes().to_vec()),
        Err(error) => {
            let code = error.member("code").and_then(|raw| raw.parse().ok());
            RelayReply::Error(code.unwrap_or(code::INTERNAL_ERROR), RawText::from(error))
        }
    })
}

/// A request at another replica. Dropping it cancels the request there; if the request has ended,
/// the other replica forgets it.
struct RemoteRun {
    replicas: Arc<Replicas>,
    node: NodeId,
    key: String,
}

impl Drop for RemoteRun {
    fn drop(&mut self) {
        let stop = Message::Stop {
            key: std::mem::take(&mut self.key),
        };
        self.replicas.tell(Recipient::Node(self.node), stop);
    }
}
