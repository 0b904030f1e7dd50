//! The gateway as it runs.

use std::sync::Arc;

use tokio::task::JoinHandle;
use turnbuckle_host::{ServerId, ServerSpec, ServerState};
use turnbuckle_server::LiveServer;

use crate::{
    core::Core,
    observe::{CallerCounts, Overview, Period},
    overview::{caller_counts, overview},
    personal::{CallerAccess, Callers, PersonalServer},
    settings::UpstreamSettings,
};

/// A gateway at work. Clones are the same; when the last one and the last connection are gone, its
/// servers end.
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
    /// The server in front: serve it on any transport, or nest it in a router.
    pub fn server(&self) -> &LiveServer {
        &self.0.server
    }

    /// Adds a server while the gateway runs, in place of one that had the same name.
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

    /// Adds a server that each caller reaches with credentials of its own, in place of one that had the
    /// same name.
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

    /// Removes a server and waits for its end. False if there was none.
    pub async fn remove(&self, name: impl Into<ServerId>) -> bool {
        let name = name.into();
        let was_personal = self.0.callers.remove(&name);
        self.0.core.remove(&name).await || was_personal
    }

    /// The servers and what they are doing.
    pub fn states(&self) -> Vec<(ServerId, ServerState)> {
        let members = self.0.core.members();
        members
            .iter()
            .map(|member| (member.id.clone(), member.upstream.state()))
            .collect()
    }

    /// The servers that each caller reaches with credentials of its own, and how many callers have them.
    pub fn caller_servers(&self) -> Vec<(ServerId, CallerCounts)> {
        caller_counts(&self.0.callers)
    }

    /// What there is to see of the gateway; `None` without a recorder.
    pub fn overview(&self, period: Period) -> Option<Overview> {
        overview(&self.0.core, &self.0.callers, period)
    }

    /// Starts a server anew, whatever it is doing, for all callers that have it. False if there is no such server.
    pub fn restart(&self, name: impl Into<ServerId>) -> bool {
        let name = name.into();
        self.0.core.restart(&name) || self.0.callers.restart(&name)
    }

    /// The server of a tool or prompt, and what the server calls it.
    pub fn owner(&self, name: &str) -> Option<(ServerId, String)> {
        self.0.core.owner(name)
    }

    /// Waits until each server is ready or has failed.
    pub async fn settled(&self) {
        self.0.core.settled().await;
    }

    /// How many calls wait for answers of their clients.
    pub fn parked(&self) -> usize {
        self.0.core.context.parked.count()
    }

    /// Ends all servers and waits for them.
    pub async fn close(&self) {
        self.0.callers.close().await;
        self.0.core.close().await;
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
