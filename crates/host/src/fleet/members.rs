//! The servers of a fleet by their ids.

use std::{path::PathBuf, sync::Arc};

use indexmap::IndexMap;
use tokio::{sync::Semaphore, task::JoinHandle};
use turnbuckle_base::lock::RwLock;

use super::{FleetHooks, FleetShared, Pacing, ServerSpec, Upstream, known, supervise};
use crate::id::ServerId;

/// How many servers may be in the first moments of their start at the same time. Starting costs the
/// most, and `npx` starts many processes.
const MAX_STARTS: usize = 4;

/// The servers of a host or a gateway. Dropping it ends them.
pub struct Fleet {
    shared: Arc<FleetShared>,
    members: RwLock<IndexMap<ServerId, Member>>,
}

struct Member {
    upstream: Arc<Upstream>,
    supervisor: Supervising,
}

/// The task that owns a server. Dropping it ends the task.
struct Supervising(Option<JoinHandle<()>>);

impl Drop for Supervising {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Fleet {
    /// Makes an empty fleet.
    pub fn new(hooks: Arc<dyn FleetHooks>, pacing: Pacing, lists: Option<PathBuf>) -> Self {
        Self {
            shared: Arc::new(FleetShared {
                hooks,
                starts: Semaphore::new(MAX_STARTS),
                pacing,
                lists,
            }),
            members: RwLock::default(),
        }
    }

    /// Adds a server and starts it. A server with the same id is stopped and replaced.
    pub fn add(&self, id: ServerId, spec: ServerSpec) -> Arc<Upstream> {
        let upstream = self.prepare(id, spec);
        self.start(&upstream);
        upstream
    }

    /// Adds a server that was [prepared](Self::prepare), and starts it. A server with the same id is
    /// stopped and replaced.
    pub fn start(&self, upstream: &Arc<Upstream>) {
        let task = tokio::spawn(supervise(Arc::clone(upstream), self.shared.clone()));
        let member = Member::new(upstream, task);
        let before = self.members.write().insert(upstream.id().clone(), member);
        if let Some(before) = before {
            before.retire();
        }
    }

    /// Replaces a server that has the same id. The old server ends before the new one starts,
    /// because both may need the same port or file. The id stays in the list throughout, so that
    /// the names of other servers do not change.
    pub(crate) fn replace(&self, id: ServerId, spec: ServerSpec) -> Arc<Upstream> {
        let upstream = self.prepare(id.clone(), spec);
        let mut members = self.members.write();
        let ending = members.get_mut(&id).and_then(|before| {
            before.upstream.stop();
            before.supervisor.0.take()
        });
        let supervising = supervise(upstream.clone(), self.shared.clone());
        let task = tokio::spawn(async move {
            if let Some(ending) = ending {
                // Waiting fails only when the runtime is shutting down.
                let _ = ending.await;
            }
            supervising.await;
        });
        members.insert(id, Member::new(&upstream, task));
        upstream
    }

    /// Makes a server that is not running yet, with the lists of its last run. This reads the file with the
    /// lists; [`start`](Self::start) reads no file.
    pub fn prepare(&self, id: ServerId, spec: ServerSpec) -> Arc<Upstream> {
        let upstream = Arc::new(Upstream::new(id, spec));
        let folder = self.shared.lists.as_ref();
        let known = folder.and_then(|folder| known::read(&known::path(folder, &upstream.origin)?));
        if let Some(lists) = known {
            upstream.set_lists(lists);
        }
        upstream
    }

    /// Removes a server and waits for its end. Returns whether there was one.
    pub async fn remove(&self, id: &ServerId) -> bool {
        let removed = self.members.write().shift_remove(id);
        match removed {
            Some(member) => {
                member.end().await;
                true
            }
            None => false,
        }
    }

    /// Removes servers, and waits for the end of all of them together.
    pub(crate) async fn remove_all(&self, ids: &[ServerId]) {
        let removed: Vec<Member> = {
            let mut members = self.members.write();
            let ids = ids.iter();
            ids.filter_map(|id| members.shift_remove(id)).collect()
        };
        end_all(removed).await;
    }

    /// Ends all servers and waits for them.
    pub async fn close(&self) {
        let members: Vec<Member> = self.members.write().drain(..).map(|(_, it)| it).collect();
        end_all(members).await;
    }

    /// The server with this id.
    pub fn find(&self, id: &ServerId) -> Option<Arc<Upstream>> {
        self.members
            .read()
            .get(id)
            .map(|member| member.upstream.clone())
    }

    /// All servers, in the order in which they were added.
    pub fn all(&self) -> Vec<Arc<Upstream>> {
        let members = self.members.read();
        members
            .values()
            .map(|member| member.upstream.clone())
            .collect()
    }

    /// Puts the servers into the order of these ids.
    pub fn sort_by(&self, order: &[ServerId]) {
        let place = |id: &ServerId| order.iter().position(|other| other == id);
        let last = order.len();
        self.members
            .write()
            .sort_by_cached_key(|id, _| place(id).unwrap_or(last));
    }
}

/// Ends servers at the same time, and waits until all of them have ended.
async fn end_all(members: Vec<Member>) {
    for member in &members {
        member.upstream.stop();
    }
    for member in members {
        member.end().await;
    }
}

impl Drop for Fleet {
    /// Other handles to a server may still exist, for example to follow a resource, but its
    /// connection ends.
    fn drop(&mut self) {
        for member in self.members.write().values() {
            member.upstream.set_live(None);
        }
    }
}

impl Member {
    fn new(upstream: &Arc<Upstream>, task: JoinHandle<()>) -> Self {
        Self {
            upstream: upstream.clone(),
            supervisor: Supervising(Some(task)),
        }
    }

    /// Stops the server without waiting.
    fn retire(mut self) {
        self.upstream.stop();
        // Detach the task: it ends by itself within a bounded time.
        self.supervisor.0 = None;
    }

    async fn end(mut self) {
        self.upstream.stop();
        if let Some(task) = self.supervisor.0.take() {
            // Waiting fails only when the runtime is shutting down.
            let _ = task.await;
        }
    }
}
