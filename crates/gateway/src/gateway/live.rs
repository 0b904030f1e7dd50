//! `LiveGateway`: a running gateway.

use std::sync::Arc;

use tokio::task::JoinHandle;
use turnbuckle_host::{InheritedVariables, ServerId, ServerSpec, ServerState};
use turnbuckle_server::LiveServer;

use crate::{
    core::Core,
    observe::{CallerCounts, Overview, Period},
    overview::{caller_counts, overview},
    personal::{CallerAccess, Callers, PersonalServer},
    settings::UpstreamSettings,
};

/// A running gateway, made by [`Gateway::open`](crate::Gateway::open). Clones refer to the same
/// gateway. When the last clone and the last connection are dropped, its servers end;
/// [`close`](Self::close) also waits for them.
#[derive(Clone)]
pub struct LiveGateway(pub(super) Arc<Live>);

pub(super) struct Live {
    pub(super) server: LiveServer,
    pub(super) core: Arc<Core>,
    pub(super) callers: Arc<Callers>,
    pub(super) tidying: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.tidying.abort();
    }
}

impl LiveGateway {
    /// The server that clients connect to. Serve it on any transport, or nest its `http()` in a router.
    pub fn server(&self) -> &LiveServer {
        &self.0.server
    }

    /// Adds a server while the gateway runs. A server with the same name is replaced. Clients are
    /// notified when its tools are available.
    pub fn add(
        &self,
        name: impl Into<ServerId>,
        spec: impl Into<ServerSpec>,
        settings: UpstreamSettings,
    ) {
        let name = name.into();
        self.0.callers.remove(&name);
        self.0.core.add(&name, spec.into(), settings);
    }

    /// Adds a server that each caller reaches with its own credentials, while the gateway runs. A
    /// server with the same name is ended and replaced. See
    /// [`Gateway::server_per_caller`](crate::Gateway::server_per_caller).
    pub async fn add_per_caller(
        &self,
        name: impl Into<ServerId>,
        access: Arc<dyn CallerAccess>,
        settings: UpstreamSettings,
    ) {
        let name = name.into();
        self.0.core.remove(&name).await;
        let server = PersonalServer::new(name, access, settings);
        self.0.callers.add(server);
    }

    #[cfg(test)]
    pub(crate) fn callers(&self) -> &Callers {
        &self.0.callers
    }

    /// Removes a server and waits until it has ended. Its tools, prompts and resources leave the
    /// lists. Returns false if there is no such server.
    pub async fn remove(&self, name: impl Into<ServerId>) -> bool {
        let name = name.into();
        let was_personal = self.0.callers.remove(&name);
        self.0.core.remove(&name).await || was_personal
    }

    /// The servers with their current states, in the order in which they were added. Servers that
    /// each caller reaches with its own credentials are in [`caller_servers`](Self::caller_servers)
    /// instead.
    pub fn states(&self) -> Vec<(ServerId, ServerState)> {
        let members = self.0.core.members();
        members
            .iter()
            .map(|member| (member.id.clone(), member.upstream.state()))
            .collect()
    }

    /// Entries that were left out of the lists of the servers or could not be read, with the
    /// reasons. Servers without problems are not included.
    pub fn list_problems(&self) -> Vec<(ServerId, Vec<String>)> {
        self.0.core.list_problems()
    }

    /// The servers that each caller reaches with its own credentials, with the number of callers
    /// for which each is ready, starting or failed.
    pub fn caller_servers(&self) -> Vec<(ServerId, CallerCounts)> {
        caller_counts(&self.0.callers)
    }

    /// The data that the gateway's page shows, except the messages: servers, callers, waiting
    /// questions, denials, and requests over this period. `None` if the gateway was opened without
    /// [`Gateway::observe`](crate::Gateway::observe).
    pub fn overview(&self, period: Period) -> Option<Overview> {
        overview(&self.0.core, &self.0.callers, period)
    }

    /// Changes which environment variables the processes of servers inherit, for processes that
    /// start from now on. See [`Gateway::inherit`](crate::Gateway::inherit).
    pub fn inherit(&self, variables: InheritedVariables) {
        self.0.core.inherit(variables);
    }

    /// Restarts a server, whatever its state, for all callers that have it. Calls in progress fail.
    /// Returns false if there is no such server.
    pub fn restart(&self, name: impl Into<ServerId>) -> bool {
        let name = name.into();
        self.0.core.restart(&name) || self.0.callers.restart(&name)
    }

    /// The server that has a tool or prompt, and the server's own name for it. `name` is the name
    /// that clients see. Returns `None` if there is no such tool or prompt.
    pub fn owner(&self, name: &str) -> Option<(ServerId, String)> {
        self.0.core.owner(name)
    }

    /// Tools that have settings ([`UpstreamSettings::tool`]) but do not exist at their servers.
    /// Only servers that are ready are checked.
    pub fn missing_tools(&self) -> Vec<(ServerId, String)> {
        let mut missing = Vec::new();
        for member in self.0.core.members() {
            let settings = &member.plan.settings.tools;
            if settings.is_empty() || !member.upstream.state().is_ready() {
                continue;
            }
            let lists = member.upstream.lists();
            // If the list could not be read, it is unknown which tools are missing.
            if !lists.failures.is_empty() {
                continue;
            }
            let entries = &lists.tools.entries;
            let has = |name: &String| entries.iter().any(|entry| entry.value.name == *name);
            let unknown = settings.keys().filter(|name| !has(name));
            missing.extend(unknown.map(|name| (member.id.clone(), name.clone())));
        }
        missing
    }

    /// Waits until each server is ready or has failed. Call it before the first request if all
    /// tools must be listed.
    pub async fn settled(&self) {
        self.0.core.settled().await;
    }

    /// The number of calls that wait for answers of their clients.
    pub fn parked(&self) -> usize {
        self.0.core.context.parked.count()
    }

    /// Ends all servers, with the calls on them, and waits until they have ended.
    pub async fn close(&self) {
        tokio::join!(self.0.callers.close(), self.0.core.close());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use turnbuckle_client::Target;
    use turnbuckle_server::{Server, Tool};

    use super::*;
    use crate::{Gateway, routes::Kind};

    fn server(name: &str) -> (LiveServer, ServerSpec) {
        let server = Server::new(name, "1").tool(Tool::new("old", async || "old"));
        let live = server.build().expect("a server");
        let (served, label) = (live.clone(), name.to_owned());
        let spec = ServerSpec::from_fn(move || {
            let served = served.clone();
            Target::on_demand(label.clone(), move || served.connect())
        });
        (live, spec)
    }

    #[tokio::test]
    async fn a_changed_list_leaves_the_entries_of_other_servers_as_they_are() {
        let ((_, one), (changed, other)) = (server("one"), server("other"));
        let gateway = Gateway::new("gateway", "1")
            .server("one", one)
            .server("other", other)
            .open()
            .expect("a gateway");
        gateway.settled().await;
        let core = &gateway.0.core;
        let before = core.routes();
        let added = Tool::new("new", async || "new");
        changed.catalog().add_tool(added).expect("it is new");
        let is_added = async {
            while core.routes().find(Kind::Tools, "other__new").is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let is_added = tokio::time::timeout(Duration::from_mins(1), is_added).await;
        assert!(is_added.is_ok(), "the change is not heard of");
        let after = core.routes();
        let find = |routes: &crate::routes::Routes, name| {
            let entry = routes.find(Kind::Tools, name).expect("an entry");
            std::ptr::from_ref(entry)
        };
        assert_eq!(find(&before, "one__old"), find(&after, "one__old"));
        assert_ne!(find(&before, "other__old"), find(&after, "other__old"));
        gateway.close().await;
    }
}
