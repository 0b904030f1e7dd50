//! What the host does for each of its servers: consent to the start, the client, and its answers.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_core::future::BoxFuture;
use tokio::sync::{broadcast, watch};
use turnbuckle_client::{Client, Target, WireMessage};
use turnbuckle_protocol::{Implementation, LoggingMessageNotificationParams, Root};

use super::answers;
#[cfg(feature = "http")]
use crate::fleet::ReachHook;
use crate::{
    consent::{Action, AskingServer, AuditRecord, Consent, Denied},
    context::Contexts,
    fleet::{
        AllowedRoot, Customise, FailureKind, FleetHooks, InheritedVariables, ServerFailure,
        ServerState, Upstream,
    },
    id::ServerId,
    roots,
    sampling::SamplingModel,
};

pub(super) type LogListener =
    Arc<dyn Fn(&ServerId, &LoggingMessageNotificationParams) + Send + Sync>;
pub(super) type WireListener = Arc<dyn Fn(&ServerId, WireMessage<'_>) + Send + Sync>;

/// The shared state of a host.
pub(crate) struct Shared {
    pub(super) implementation: Implementation,
    pub(crate) consent: Consent,
    pub(crate) model: Option<Arc<dyn SamplingModel>>,
    pub(crate) contexts: Contexts,
    pub(super) roots: Vec<Root>,
    pub(super) inherited: InheritedVariables,
    pub(super) on_log: Option<LogListener>,
    pub(super) on_wire: Option<WireListener>,
    #[cfg(feature = "http")]
    pub(super) reach: Option<ReachHook>,
    pub(super) states: broadcast::Sender<(ServerId, ServerState)>,
    pub(super) updates: broadcast::Sender<(ServerId, Arc<str>)>,
    /// Counts the events that change the catalog.
    pub(super) changes: AtomicU64,
    pub(super) changed: watch::Sender<u64>,
}

impl Shared {
    /// Marks the catalog as changed.
    pub(super) fn catalog_changed(&self) {
        let count = self.changes.fetch_add(1, Ordering::AcqRel) + 1;
        self.changed
            .send_modify(|known| *known = (*known).max(count));
    }

    /// Shares roots with a server, as far as the policy and the user allow them. Returns the denials.
    pub(super) async fn share_roots(&self, server: &Upstream, wanted: &[Root]) -> Vec<Denied> {
        let asking = AskingServer {
            origin: &server.origin,
            conversation: None,
        };
        let mut denials = Vec::new();
        let known = server.allowed_roots();
        for root in wanted {
            let action = Action::ShareRoot { root };
            let was_allowed_once = known.iter().any(|it| it.root == *root && !it.is_granted);
            let permitted = if was_allowed_once {
                self.consent.permit_again(asking, action)
            } else {
                self.consent.permit(asking, action).await.map(drop)
            };
            match permitted {
                Ok(()) => server.allow_root(AllowedRoot {
                    root: root.clone(),
                    is_granted: self.consent.is_granted(asking, &action),
                }),
                Err(denied) => {
                    server.disallow_root(&root.uri);
                    denials.push(denied);
                }
            }
        }
        self.show_roots(server);
        denials
    }

    /// Shows a server its allowed roots, without those whose grant was revoked or whose folder does
    /// not exist.
    pub(super) fn show_roots(&self, server: &Upstream) {
        let asking = AskingServer {
            origin: &server.origin,
            conversation: None,
        };
        let mut present = Vec::new();
        for AllowedRoot { root, is_granted } in server.allowed_roots() {
            let action = Action::ShareRoot { root: &root };
            if is_granted && !self.consent.is_granted(asking, &action) {
                server.disallow_root(&root.uri);
            } else if roots::is_present(&root) {
                present.push(root);
            }
        }
        server.show_roots(present);
    }
}

/// The hooks of the fleet.
pub(super) struct Hooks(pub(super) Arc<Shared>);

impl Hooks {
    async fn prepare(&self, server: &Arc<Upstream>) -> Result<(Client, Target), ServerFailure> {
        let shared = &self.0;
        let launch = server.spec.to_redacted_string();
        let asking = AskingServer {
            origin: &server.origin,
            conversation: None,
        };
        // Do not ask the user about an entry that cannot be used.
        let target = server.spec.target(&self.customise(server))?;
        let start = Action::Start { launch: &launch };
        let permitted = if server.is_start_allowed() {
            shared.consent.permit_again(asking, start)
        } else {
            shared.consent.permit(asking, start).await.map(drop)
        };
        permitted
            .map_err(|denied| ServerFailure::new(FailureKind::NotAllowed, denied.to_string()))?;
        if !shared.consent.is_granted(asking, &start) {
            // A start that was allowed once is allowed for restarts too. A grant is checked each time.
            server.allow_start();
        }
        let roots: Vec<Root> = shared
            .roots
            .iter()
            .chain(&server.spec.roots)
            .cloned()
            .collect();
        shared.share_roots(server, &roots).await;
        self.write_state(server, "starting");
        Ok((self.client(server), target))
    }

    fn write_state(&self, server: &Upstream, state: &'static str) {
        let audit = &self.0.consent.audit;
        if audit.is_wanted() {
            let record = AuditRecord::new("state", server.id(), "start");
            audit.write(&record.ended(state));
        }
    }

    #[cfg(feature = "http")]
    fn customise(&self, server: &Upstream) -> Customise<'_> {
        Customise {
            inherited: &self.0.inherited,
            server: server.id().clone(),
            hook: self.0.reach.clone(),
        }
    }

    #[cfg(not(feature = "http"))]
    fn customise(&self, _: &Upstream) -> Customise<'_> {
        Customise {
            inherited: &self.0.inherited,
        }
    }

    /// Makes the client for one server. It shares nothing with the clients of other servers.
    fn client(&self, server: &Upstream) -> Client {
        let shared = &self.0;
        let mut client =
            Client::from(shared.implementation.clone()).answering(answers::answers(shared, server));
        if let Some(timeout) = server.spec.call_timeout {
            client = client.deadline(timeout);
        }
        if let Some(level) = server.spec.log_level {
            client = client.log_level(level);
        }
        if let Some(listener) = shared.on_log.clone() {
            let id = server.id().clone();
            client = client.on_log(move |_, message| listener(&id, message));
        }
        if let Some(listener) = shared.on_wire.clone() {
            let id = server.id().clone();
            client = client.on_wire(move |passing| listener(&id, passing));
        }
        client
    }
}

impl FleetHooks for Hooks {
    fn prepare<'a>(
        &'a self,
        server: &'a Arc<Upstream>,
    ) -> BoxFuture<'a, Result<(Client, Target), ServerFailure>> {
        Box::pin(self.prepare(server))
    }

    fn state_changed(&self, server: &Upstream, state: &ServerState) {
        match state {
            ServerState::Idle => self.write_state(server, "idle"),
            ServerState::Disabled => self.write_state(server, "disabled"),
            // The audit log has the start once it is allowed.
            ServerState::Starting => {}
            ServerState::Ready(_) => self.write_state(server, "ready"),
            ServerState::Restarting { .. } => self.write_state(server, "restarting"),
            ServerState::Failed { .. } => self.write_state(server, "failed"),
            ServerState::Removed => self.write_state(server, "removed"),
        }
        // The catalog contains what can be called, so it leaves out a failed server.
        self.0.catalog_changed();
        // Sending fails only if there is no receiver.
        let _ = self.0.states.send((server.id().clone(), state.clone()));
    }

    fn lists_changed(&self, _: &Upstream) {
        self.0.catalog_changed();
    }

    fn resource_updated(&self, server: &Upstream, uri: &Arc<str>) {
        self.0.contexts.updated(server.id(), uri);
        let _ = self.0.updates.send((server.id().clone(), uri.clone()));
    }
}
