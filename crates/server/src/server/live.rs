//! `LiveServer`: a server that has been built and can be served.

use std::sync::Arc;

use turnbuckle_session::round::seal::WeakSecret;
use turnbuckle_transport::{Duplex, Limits, Outbox};

use super::keys::key_ring;
use crate::{
    Caller, Catalog, Changes, MemoryUsage, ServeError, Streams, Transport,
    edge::connection::Connection, engine::Shared,
};
#[cfg(feature = "http")]
use crate::{HttpService, HttpSettings, ReplicaLink};

/// A server that is set up: clone it, serve it on several transports, change it while it runs. Made
/// by [`Server::build`](crate::Server::build). Clones share everything.
///
/// ```
/// use turnbuckle_server::{Server, Tool};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let server = Server::new("greeter", "1.0.0")
///     .tool(Tool::new("greet", async || "hello"))
///     .build()?;
/// // The end of an in-process connection, for a client in a test.
/// let connection = server.connect();
/// // Tools can be added while it runs.
/// server.catalog().add_tool(Tool::new("wave", async || "bye"))?;
/// # drop(connection);
/// # Ok::<(), turnbuckle_server::SetupError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct LiveServer(Arc<Shared>);

impl LiveServer {
    pub(crate) fn new(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        #[cfg(feature = "http")]
        super::replicas::watch_over_tasks(&shared);
        Self(shared)
    }

    /// Serves until the transport ends. It may be called for several transports at the same time.
    /// Call [`shutdown`](Self::shutdown) after the last one has ended.
    ///
    /// # Errors
    /// [`ServeError`] if the transport cannot be opened, or breaks.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection and every call that runs on it.
    pub async fn serve(&self, transport: impl Transport) -> Result<(), ServeError> {
        transport.serve(self.clone()).await
    }

    /// Waits until messages of other replicas arrive, where there are any, for five seconds at most.
    ///
    /// [`Http`](crate::Http) does so by itself. Call it before the first request where another server
    /// carries the [service](Self::http).
    #[cfg(feature = "http")]
    pub async fn ready(&self) {
        if let Some(replicas) = &self.0.replicas {
            replicas.ready().await;
        }
    }

    /// The way to the other replicas, where there are any, for a [`Relay`](crate::Relay) whose work
    /// belongs to one of them.
    #[cfg(feature = "http")]
    pub fn replica_link(&self) -> Option<ReplicaLink> {
        self.0.replicas.as_ref().map(ReplicaLink::new)
    }

    /// Ends the tasks that run: each is marked as failed, with the reason, where tasks are kept, so
    /// that clients which come back to another process know. Tasks of
    /// [restartable](crate::Tool::restartable) tools are left to other replicas, where there are any.
    /// No new ones begin after that.
    ///
    /// Connections are not touched. Call it when they have ended and before the process does;
    /// [`Server::serve`](crate::Server::serve) does so by itself. It takes ten seconds at most.
    pub async fn shutdown(&self) {
        let handed_over = self.0.tasks.close().await;
        #[cfg(feature = "http")]
        if let Some(replicas) = &self.0.replicas {
            if handed_over > 0 {
                replicas.tell_of_tasks().await;
            }
            replicas.leave().await;
        }
        #[cfg(not(feature = "http"))]
        let _ = handed_over;
    }

    /// An in-process connection: the end for a client. Must be called inside a runtime.
    ///
    /// The task that serves it ends when the returned end is dropped.
    pub fn connect(&self) -> Duplex {
        self.connect_as(Caller::local())
    }

    /// An in-process connection for a caller of your choice, for tests of permissions. Otherwise as
    /// [`connect`](Self::connect).
    pub fn connect_as(&self, caller: Caller) -> Duplex {
        let (near, far) = turnbuckle_transport::duplex();
        let server = self.clone();
        tokio::spawn(async move {
            let streams = Streams::new(far.reader, far.writer).caller(caller);
            if let Err(error) = streams.serve(server).await {
                tracing::debug!(%error, "an in-process connection ended");
            }
        });
        near
    }

    /// The server as a tower service that speaks HTTP, which accepts loopback hosts only: nest it
    /// in an axum router, or run it under hyper.
    #[cfg(feature = "http")]
    pub fn http(&self) -> HttpService {
        self.http_with(HttpSettings::default())
    }

    /// The server as a tower service that speaks HTTP, with settings of your own: which hosts and
    /// origins are accepted, and the limits.
    #[cfg(feature = "http")]
    pub fn http_with(&self, settings: HttpSettings) -> HttpService {
        HttpService::new(self.shared(), settings, None)
    }

    /// Changes the [secrets](crate::Server::secrets) while the server runs: from now on the first
    /// secret encrypts, and all of them decrypt.
    ///
    /// To change a secret without losing a call, take three steps, each on every replica: add the
    /// new secret as the second; make it the first; remove the old secret when the last
    /// `requestState` that it encrypted has [expired](crate::Server::answer_within). Remove a leaked
    /// secret immediately: calls that wait for answers then have to start again.
    ///
    /// ```
    /// # let (new, old) = ([1; 32], [2; 32]);
    /// let server = turnbuckle_server::Server::new("booking", "1.0.0").secret(&old).build()?;
    /// server.secrets([old, new])?;
    /// server.secrets([new, old])?;
    /// server.secrets([new])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no secret, or one is too short; nothing is changed then.
    pub fn secrets(
        &self,
        secrets: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), WeakSecret> {
        let keys = key_ring(secrets)?.ok_or(WeakSecret(0))?;
        self.0.context.asks.set_keys(keys);
        Ok(())
    }

    /// Returns the catalog, with which entries are added and removed while the server runs.
    ///
    /// From now on the server declares tools, prompts and resources to clients that connect, so that
    /// they are notified of additions, unless
    /// [`Server::dynamic_tools`](crate::Server::dynamic_tools) or one of its siblings chose the lists
    /// to declare. Call it before the server is served.
    pub fn catalog(&self) -> Catalog {
        self.0.catalog.handed_out()
    }

    /// Notifies subscribers that something changed, from anywhere in the program. The
    /// [catalog](Self::catalog) reports its own changes.
    pub fn changes(&self) -> Changes {
        self.0.context.changes.clone()
    }

    /// How much of the [memory budget](crate::Server::memory_budget) is used now.
    ///
    /// ```
    /// use turnbuckle_server::Server;
    ///
    /// let server = Server::new("greeter", "1.0.0").build()?;
    /// assert!(server.memory_usage().is_zero());
    /// # Ok::<(), turnbuckle_server::SetupError>(())
    /// ```
    pub fn memory_usage(&self) -> MemoryUsage {
        self.0.allowances.memory_usage()
    }

    #[cfg(feature = "http")]
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.0)
    }

    pub(crate) fn limits(&self) -> Limits {
        self.0.settings.limits
    }

    /// A connection for a transport of lines. Must be called inside a runtime.
    pub(crate) fn accept(&self, caller: Caller) -> (Connection, Outbox) {
        let outbox = Outbox::new(self.limits());
        (
            Connection::new(Arc::clone(&self.0), caller, outbox.clone()),
            outbox,
        )
    }
}
