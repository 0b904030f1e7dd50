//! Supervises one server: starts it, reads its lists, follows changes, and restarts it.
//!
//! The task that runs `supervise` owns the server. When the task ends, it drops the connection,
//! and with it the server's process.

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use tokio::time::Instant;
use tokio::{sync::Semaphore, time};
use turnbuckle_client::{CallError, Change, ChangeStream, Client, Connection, Listen, Target};
use turnbuckle_protocol::Tool;

use super::{
    FailureKind, Lists, Pacing, Ready, ServerFailure, ServerState, Start, Upstream, aside,
    kind::Kind,
    known,
    listing::{self, List},
    pace::{Attempt, Pace, Pause},
    reach_check::ReachCheck,
    unread::Unread,
};

/// The shortest time between two readings of the lists. If a server keeps reporting changes of its
/// lists, they are read ten times a second at most.
const MIN_RELIST_PAUSE: Duration = Duration::from_millis(100);

/// How long reading one whole list may take. It keeps a server that is slow with each page from
/// delaying the host.
const LIST_DEADLINE: Duration = Duration::from_mins(1);

/// How long a starting server delays the start of others. Most servers answer sooner; a slower one
/// must not delay the others for its whole start timeout.
const START_TURN: Duration = Duration::from_secs(2);

/// How long a server may take to end when it is removed.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// How long to wait before listening to changes again after it failed.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// Functions of the owner of a fleet (a host or a gateway) that the fleet calls.
pub trait FleetHooks: Send + Sync + 'static {
    /// Makes the client and the target for one start. An error prevents the start.
    fn prepare<'a>(
        &'a self,
        server: &'a Arc<Upstream>,
    ) -> BoxFuture<'a, Result<(Client, Target), ServerFailure>>;

    /// Called when a server was connected to. An error ends the connection before any request is
    /// sent to the server.
    ///
    /// # Errors
    /// A failure if the server must not be used.
    fn admit(&self, _server: &Upstream, _connection: &Connection) -> Result<(), ServerFailure> {
        Ok(())
    }

    /// Called when the state of a server changed.
    fn state_changed(&self, server: &Upstream, state: &ServerState);

    /// Called when the lists of a server changed.
    fn lists_changed(&self, server: &Upstream);

    /// Called when a server reports a change of a list, but the list is the same as before.
    fn list_announced(&self, _server: &Upstream, _change: &Change) {}

    /// Called when a followed resource changed.
    fn resource_updated(&self, server: &Upstream, uri: &Arc<str>);

    /// Called when a followed resource may have changed, because notifications may have been missed.
    fn resource_updates_missed(&self, server: &Upstream, uri: &Arc<str>, _why: MissedUpdates) {
        self.resource_updated(server, uri);
    }
}

/// Why changes of a resource may have been missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedUpdates {
    /// The subscription is new, and the resource may have changed since it was requested.
    New,
    /// The subscription has moved to another stream. The session with the server is the same.
    Moved,
    /// The connection to the server was interrupted.
    Disconnected,
}

/// The shared state of all servers of a fleet.
pub(crate) struct FleetShared {
    pub(crate) hooks: Arc<dyn FleetHooks>,
    /// Limits how many servers are in the first moments of their start at the same time.
    pub(crate) starts: Semaphore,
    pub(crate) pacing: Pacing,
    /// The folder in which the lists of servers are kept from one run to the next.
    pub(crate) lists: Option<PathBuf>,
}

/// Keeps a server running until it is stopped.
pub(crate) async fn supervise(upstream: Arc<Upstream>, shared: Arc<FleetShared>) {
    let supervisor = Supervisor {
        upstream: &upstream,
        shared: &shared,
    };
    let mut stopping = upstream.stopping.subscribe();
    tokio::select! {
        // Fixed order, so that a simulation can replay every step.
        biased;
        _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        () = supervisor.run() => {}
    }
    if let Some(connection) = upstream.live() {
        upstream.set_live(None);
        connection.close_within(CLOSE_TIME).await;
    }
    supervisor.become_state(ServerState::Removed);
}

struct Supervisor<'a> {
    upstream: &'a Arc<Upstream>,
    shared: &'a FleetShared,
}

impl Supervisor<'_> {
    fn become_state(&self, state: ServerState) {
        self.upstream.set_state(state);
        let state = self.upstream.state();
        let tell = || self.shared.hooks.state_changed(self.upstream, &state);
        if state.is_ready() {
            // This takes long in a gateway, which merges the lists of all its servers.
            aside(tell);
        } else {
            tell();
        }
    }

    async fn run(&self) {
        let mut pace = Pace::new(self.shared.pacing);
        if !self.upstream.spec.is_enabled {
            return std::future::pending().await;
        }
        loop {
            while !self.upstream.is_wanted() {
                self.upstream.wanted.notified().await;
            }
            self.become_state(ServerState::Starting);
            let began_at = Instant::now();
            let (failure, attempt) = match self.start().await {
                Ok(connection) => {
                    let ready_at = Instant::now();
                    let failure = self.serve(&connection).await;
                    self.upstream.set_live(None);
                    self.upstream.heard.lock().clear();
                    (failure, Attempt::WasReady(ready_at.elapsed()))
                }
                Err(failure) => (failure, Attempt::NotStarted(began_at.elapsed())),
            };
            self.after(&mut pace, failure, attempt).await;
        }
    }

    /// Waits after a failure: for some time, or until the server is needed.
    async fn after(&self, pace: &mut Pace, failure: ServerFailure, attempt: Attempt) {
        let kind = failure.kind;
        let reason = self
            .upstream
            .spec
            .with_variables_as_written(&failure.reason);
        let failure = Arc::new(ServerFailure { reason, ..failure });
        if matches!(kind, FailureKind::NotAllowed | FailureKind::Misconfigured) {
            // Do not retry: that would only ask the user again and again.
            self.upstream.forget_want();
            return self.become_state(ServerState::Failed {
                failure,
                retry_after: None,
            });
        }
        let pause = pace.failed(Instant::now(), attempt);
        let is_on_demand = self.upstream.spec.start == Start::OnDemand;
        let was_never_ready = matches!(attempt, Attempt::NotStarted(_));
        // Waiting callers get the failure, or ask for the server again when it is idle.
        if is_on_demand {
            self.upstream.forget_want();
        }
        self.become_state(match pause {
            Pause::Rest(rest) => ServerState::Failed {
                failure,
                retry_after: Some(rest),
            },
            // The waiting caller gets the failure; other callers do not wait.
            Pause::Short(_) if is_on_demand && was_never_ready => ServerState::Failed {
                failure,
                retry_after: None,
            },
            Pause::Short(pause) => ServerState::Restarting { failure, pause },
        });
        time::sleep(pause.duration()).await;
        if is_on_demand && !self.upstream.is_wanted() {
            self.become_state(ServerState::Idle);
        }
    }

    async fn start(&self) -> Result<Connection, ServerFailure> {
        let spec = &self.upstream.spec;
        // The user may have to be asked first. This must not delay the start of other servers.
        let (client, target) = self.shared.hooks.prepare(self.upstream).await?;
        let not_started = |reason: String| ServerFailure::new(FailureKind::NotStarted, reason);
        let permit = self.shared.starts.acquire().await;
        let permit = permit.map_err(|_| not_started("the host is closed".to_owned()))?;
        let connecting = client
            .handshake_timeout(spec.start_timeout)
            .connect(target)
            .named(self.upstream.id().shared());
        let mut connected = std::pin::pin!(time::timeout(
            spec.start_timeout,
            std::future::IntoFuture::into_future(connecting),
        ));
        let connected = tokio::select! {
            biased;
            connected = &mut connected => connected,
            () = time::sleep(START_TURN) => {
                drop(permit);
                connected.await
            }
        };
        match connected {
            Ok(Ok(connection)) => {
                self.shared.hooks.admit(self.upstream, &connection)?;
                Ok(connection)
            }
            Ok(Err(error)) => Err(ServerFailure::connecting(&error)),
            Err(_) => Err(not_started(format!(
                "it did not answer within {:?}; raise its start timeout if it needs more time",
                spec.start_timeout
            ))),
        }
    }

    /// Serves until the connection ends or the server can no longer be reached.
    async fn serve(&self, connection: &Connection) -> ServerFailure {
        let name = connection.server().implementation();
        let name = name.map(|implementation| implementation.name.clone());
        self.upstream.origin.introduce(name);
        self.upstream.set_live(Some(connection.clone()));
        self.read_lists(connection).await;
        let server = connection.server();
        self.become_state(ServerState::Ready(Arc::new(Ready {
            revision: server.revision(),
            capabilities: server.capabilities().cloned(),
            implementation: server.implementation().cloned(),
            instructions: server.instructions().map(str::to_owned),
        })));
        let mut hearing = self.listen(connection).await;
        let mut unread = Unread::new();
        let mut reach = ReachCheck::new();
        loop {
            unread.note(self.upstream.has_unread_lists());
            tokio::select! {
                // Fixed order, so that a simulation can replay every step. Clients can request
                // rereading of the lists without end, so that branch is last.
                biased;
                ending = connection.closed() => return ServerFailure::ended(&ending),
                () = self.upstream.checking.notified() => {
                    if let Some(failure) = reach.ask(connection).await {
                        return failure;
                    }
                    // Every failing call may request a check, so limit their rate.
                    time::sleep(MIN_RELIST_PAUSE).await;
                }
                () = reach.is_due() => {
                    let is_listened_to = hearing.is_listening() || !self.upstream.spec.is_remote();
                    if let Some(failure) = reach.look(connection, is_listened_to).await {
                        return failure;
                    }
                }
                () = self.upstream.followed_changed.notified() => {
                    hearing = self.listen(connection).await;
                    // Changes of the lists that the old stream would have reported are lost with it.
                    self.upstream.rereading.notify_one();
                }
                () = unread.is_due() => {
                    self.read_lists(connection).await;
                }
                change = hearing.next() => self.hear(connection, &mut hearing, change).await,
                () = self.upstream.rereading.notified() => {
                    self.read_lists(connection).await;
                    time::sleep(MIN_RELIST_PAUSE).await;
                }
            }
        }
    }

    async fn hear(
        &self,
        connection: &Connection,
        hearing: &mut Hearing,
        change: Option<Result<Change, CallError>>,
    ) {
        match change {
            Some(Ok(Change::ResourceUpdated { uri, .. })) => {
                self.shared.hooks.resource_updated(self.upstream, &uri);
            }
            Some(Ok(Change::Missed(_))) => {
                for uri in self.upstream.followed() {
                    self.tell_missed(&uri, MissedUpdates::Disconnected);
                }
                self.read_lists(connection).await;
                time::sleep(MIN_RELIST_PAUSE).await;
            }
            Some(Ok(Change::Other { .. })) => {}
            Some(Ok(change)) => {
                if !self.read_lists(connection).await {
                    self.shared.hooks.list_announced(self.upstream, &change);
                }
                // Changes that arrive during the pause lead to one reading.
                time::sleep(MIN_RELIST_PAUSE).await;
            }
            Some(Err(error)) => {
                tracing::debug!(server = %self.upstream.id(), %error, "the subscription to changes ended");
                *hearing = Hearing::Again(Box::pin(time::sleep(LISTEN_AGAIN)));
            }
            None => {
                self.upstream.heard.lock().clear();
                *hearing = self.listen(connection).await;
                self.upstream.rereading.notify_one();
            }
        }
    }

    async fn listen(&self, connection: &Connection) -> Hearing {
        let followed = self.upstream.followed();
        let listen = followed
            .iter()
            .fold(Listen::lists(), |listen, uri| listen.resource(&**uri));
        match connection.listen(listen).await {
            Ok(changes) => {
                // Forget resources that were unfollowed while the server was asked.
                let mut heard = self.upstream.heard.lock();
                heard.retain(|uri| followed.contains(uri));
                drop(heard);
                for uri in followed {
                    let is_new = self.upstream.heard.lock().insert(uri.clone());
                    let why = if is_new {
                        MissedUpdates::New
                    } else {
                        MissedUpdates::Moved
                    };
                    self.tell_missed(&uri, why);
                }
                Hearing::Changes(changes)
            }
            // The server never reports changes.
            Err(CallError::NotOffered { .. }) => Hearing::Nothing,
            Err(error) => {
                tracing::debug!(server = %self.upstream.id(), %error, "cannot subscribe to changes");
                Hearing::Again(Box::pin(time::sleep(LISTEN_AGAIN)))
            }
        }
    }

    /// Reports that a resource may have changed while no stream reported its changes.
    fn tell_missed(&self, uri: &Arc<str>, why: MissedUpdates) {
        let hooks = &self.shared.hooks;
        hooks.resource_updates_missed(self.upstream, uri, why);
    }

    /// Stores the lists for the next run. The file is written in the background.
    fn keep_lists(&self) {
        let folder = self.shared.lists.as_ref();
        let path = folder.and_then(|folder| known::path(folder, &self.upstream.origin));
        let Some(path) = path else { return };
        let lists = self.upstream.lists();
        let id = self.upstream.id().clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = known::write(&path, &lists) {
                tracing::warn!(server = %id, %error, "cannot save the lists of a server");
            }
        });
    }

    /// Reads the lists. Returns whether they differ from the previous ones.
    async fn read_lists(&self, connection: &Connection) -> bool {
        self.upstream.listed.send_modify(|count| *count += 1);
        let before = self.upstream.lists();
        let lists = read_all(connection, &before).await;
        let is_same = lists.is_same(&before);
        self.upstream.set_lists(lists);
        if !is_same {
            // This takes long in a gateway, which merges the lists of all its servers.
            aside(|| self.shared.hooks.lists_changed(self.upstream));
            self.keep_lists();
        }
        self.upstream.listed.send_modify(|count| *count += 1);
        !is_same
    }
}

/// How the host hears about changes.
enum Hearing {
    Changes(ChangeStream),
    /// The server sends no change notifications.
    Nothing,
    /// Listening failed and is tried again when the time is over.
    Again(std::pin::Pin<Box<time::Sleep>>),
}

impl Hearing {
    /// Whether a stream is open. Its end shows that the server is gone.
    fn is_listening(&self) -> bool {
        matches!(self, Self::Changes(_))
    }

    /// Returns the next change, or `None` when it is time to listen again.
    async fn next(&mut self) -> Option<Result<Change, CallError>> {
        match self {
            Self::Changes(changes) => changes.next().await,
            Self::Nothing => std::future::pending().await,
            Self::Again(sleep) => {
                sleep.await;
                None
            }
        }
    }
}

async fn read_all(connection: &Connection, before: &Lists) -> Lists {
    let capabilities = connection.server().capabilities();
    let offers = |has: bool| has || capabilities.is_none();
    let has_tools = offers(capabilities.is_some_and(|can| can.tools.is_some()));
    let has_prompts = offers(capabilities.is_some_and(|can| can.prompts.is_some()));
    let has_resources = offers(capabilities.is_some_and(|can| can.resources.is_some()));
    let (tools, prompts, resources, templates) = tokio::join!(
        read_one(connection, has_tools, &before.tools),
        read_one(connection, has_prompts, &before.prompts),
        read_one(connection, has_resources, &before.resources),
        read_one(connection, has_resources, &before.templates),
    );
    let ttls = [tools.0.ttl, prompts.0.ttl, resources.0.ttl, templates.0.ttl];
    // A time to live of zero means that a list must not be cached; it is read again when something
    // changes.
    let shortest = ttls
        .into_iter()
        .flatten()
        .filter(|ttl| !ttl.is_zero())
        .min();
    let tools = (leave_out_uncallable(connection, tools.0), tools.1);
    Lists {
        stale_at: shortest.and_then(|ttl| Instant::now().checked_add(ttl)),
        failures: [tools.1, prompts.1, resources.1, templates.1]
            .into_iter()
            .flatten()
            .collect(),
        tools: tools.0,
        prompts: prompts.0,
        resources: resources.0,
        templates: templates.0,
    }
}

/// Passes the tools to the connection, and leaves out those that it cannot call.
fn leave_out_uncallable(connection: &Connection, tools: Arc<List<Tool>>) -> Arc<List<Tool>> {
    let excluded = connection.note_tools(tools.entries.iter().map(|entry| &*entry.value));
    if excluded.is_empty() {
        return tools;
    }
    let mut tools = List::clone(&tools);
    tools
        .entries
        .retain(|entry| !excluded.contains(&entry.value.name));
    let problem = |name: &String| format!("left out the tool `{name}`: its headers cannot be sent");
    tools.problems.extend(excluded.iter().map(problem));
    Arc::new(tools)
}

/// Reads one list. If it cannot be read, the previous entries are kept.
async fn read_one<T: Kind>(
    connection: &Connection,
    is_offered: bool,
    before: &Arc<List<T>>,
) -> (Arc<List<T>>, Option<String>) {
    if !is_offered {
        return (Arc::default(), None);
    }
    let read = time::timeout(LIST_DEADLINE, listing::read(connection, before));
    let Ok(read) = read.await else {
        let problem = format!("reading `{}` took more than {LIST_DEADLINE:?}", T::METHOD);
        return (before.clone(), Some(problem));
    };
    match read {
        Ok(list) => (list, None),
        // Templates were added to the protocol after resources, and many servers do not know them.
        Err(error) if is_unknown(&error) => (Arc::default(), None),
        Err(error) => {
            let problem = format!("cannot read `{}`: {error}", T::METHOD);
            (before.clone(), Some(problem))
        }
    }
}

fn is_unknown(error: &CallError) -> bool {
    error
        .rejection()
        .is_some_and(|error| error.code == turnbuckle_protocol::error::code::METHOD_NOT_FOUND)
}
