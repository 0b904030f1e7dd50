//! The lists of a server from its last run, used before it starts.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};

use turnbuckle_base::lock::RwLock;
use turnbuckle_client::{Client, Target};
use turnbuckle_host::{InheritedVariables, ServerFailure, ServerId, ServerSpec};
use turnbuckle_protocol::{ClientCapabilities, Implementation};

use super::{LaneHub, OnNews, Processes};
use crate::{
    gateways::{GatewayId, PeerGateway},
    settings::UpstreamSettings,
};

/// The state that all servers of a gateway share.
pub(crate) struct Common {
    pub(crate) info: Implementation,
    pub(crate) gateway: GatewayId,
    /// The places for processes of callers and calls.
    pub(crate) processes: Arc<Processes>,
    /// The listener for messages of sessions that belong to no call.
    pub(crate) on_news: OnNews,
    /// The number of the next session.
    pub(crate) next_lane: Arc<AtomicU64>,
    /// Whether the servers belong to one caller.
    pub(crate) is_of_caller: bool,
    /// Whether the policy can hide entries from lists.
    pub(crate) hides_entries: Arc<AtomicBool>,
    /// The environment variables that processes inherit when they start.
    pub(crate) inherited: Arc<RwLock<InheritedVariables>>,
}

impl Common {
    /// The same for the servers of one caller, with another listener.
    pub(crate) fn for_caller(&self, on_news: OnNews) -> Self {
        Self {
            info: self.info.clone(),
            gateway: self.gateway.clone(),
            processes: Arc::clone(&self.processes),
            on_news,
            next_lane: Arc::clone(&self.next_lane),
            is_of_caller: true,
            hides_entries: Arc::clone(&self.hides_entries),
            inherited: Arc::clone(&self.inherited),
        }
    }
}

/// What is known about a server before it starts.
pub(crate) struct Plan {
    pub(crate) settings: UpstreamSettings,
    pub(crate) spec: ServerSpec,
    pub(super) hub: Arc<LaneHub>,
    pub(crate) common: Arc<Common>,
    /// Whether the server is itself a gateway.
    pub(crate) peer: PeerGateway,
}

impl Plan {
    pub(crate) fn new(
        id: &ServerId,
        spec: ServerSpec,
        settings: UpstreamSettings,
        common: Arc<Common>,
    ) -> Self {
        let on_news = Arc::clone(&common.on_news);
        let hub = LaneHub::main(spec.is_pipe(), id.clone(), on_news);
        Self {
            settings,
            spec,
            hub,
            common,
            peer: PeerGateway::default(),
        }
    }

    /// The client for the session that reads the lists. Calls of all clients may use the single
    /// session of a program, so it declares all capabilities that a client may have.
    pub(crate) fn client(&self) -> Client {
        let capabilities = if self.spec.is_process() {
            everything()
        } else {
            ClientCapabilities::new()
        };
        self.client_with(capabilities, &self.hub)
    }

    /// The target for a new session.
    pub(crate) fn target(&self) -> Result<Target, ServerFailure> {
        let inherited = self.common.inherited.read().clone();
        self.spec.target_as_written(&inherited)
    }

    pub(super) fn client_with(
        &self,
        capabilities: ClientCapabilities,
        hub: &Arc<LaneHub>,
    ) -> Client {
        let info = &self.common.info;
        let client = Client::new(&*info.name, &*info.version)
            .relaying(capabilities, Arc::clone(hub) as Arc<_>)
            .handshake_timeout(self.spec.time_to_start());
        match (self.settings.revision, self.settings.era) {
            (Some(revision), _) => client.only(revision),
            (None, Some(era)) => client.only_era(era),
            (None, None) => client,
        }
    }
}

/// All capabilities for questions that a client may have.
pub(super) fn everything() -> ClientCapabilities {
    ClientCapabilities::new()
        .with_form_elicitation()
        .with_url_elicitation()
        .with_sampling_tools()
        .with_roots()
}

/// Whether a client can be asked any question.
pub(crate) fn can_be_asked(client: &ClientCapabilities) -> bool {
    client.elicitation.is_some() || client.sampling.is_some() || client.roots.is_some()
}

/// The capabilities with which a session is opened for a client: those for questions, and its extensions.
pub(super) fn asked_of(client: &ClientCapabilities) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::new();
    capabilities.roots.clone_from(&client.roots);
    if let Some(roots) = &mut capabilities.roots {
        // Roots are requested only during calls, so changes of them are not announced.
        roots.list_changed = None;
    }
    capabilities.sampling.clone_from(&client.sampling);
    capabilities.elicitation.clone_from(&client.elicitation);
    capabilities.extensions.clone_from(&client.extensions);
    capabilities
}
