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

/// A server that has been built by [`Server::build`](crate::Server::build). Serve it on several
/// transports, and change it while it runs. Clones are handles to the same server.
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

    /// Serves on this transport until the transport ends. It may be called for several transports
    /// at the same time. Call [`shutdown`](Self::shutdown) after the last one has ended.
    ///
    /// # Errors
    /// [`ServeError`] if the transport cannot be opened, or breaks.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection and every call that runs on it.
    pub async fn serve(&self, transport: impl Transport) -> Result<(), ServeError> {
        transport.serve(self.clone()).await
    }

    /// Waits until this server receives the messages of other replicas, for at most five seconds.
    /// Returns at once if the server has no `Server::replicas`.
    ///
    /// [`Http`](crate::Http) calls it by itself. If you run the [service](Self::http) in your own
    /// HTTP server, call it before the first request.
    #[cfg(feature = "http")]
    pub async fn ready(&self) {
        if let Some(replicas) = &self.0.replicas {
            replicas.ready().await;
        }
    }

    /// Returns a handle to the other replicas, for a [`Relay`](crate::Relay) that must pass
    /// requests on to the replica that holds their state. `None` if the server has no
    /// `Server::replicas`.
    #[cfg(feature = "http")]
    pub fn replica_link(&self) -> Option<ReplicaLink> {
        self.0.replicas.as_ref().map(ReplicaLink::new)
    }

    /// Ends the running tasks. Each is marked as failed in the task store, with the reason, so that
    /// clients that ask another process learn of it. If the server has `Server::replicas`, tasks of
    /// [restartable](crate::Tool::restartable) tools are left to them instead. No tasks can be
    /// started after that.
    ///
    /// Connections are not touched. Call it after they have ended and before the process ends;
    /// [`Server::serve`](crate::Server::serve) calls it by itself. It takes at most ten seconds.
    ///
    /// # Cancel safety
    /// Dropping the future while it waits does not stop the shutdown of the tasks, but other
    /// replicas may learn only later that this one has ended.
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

    /// Opens an in-process connection and returns the client's end of it. Must be called inside a
    /// runtime, because a task serves the connection. That task ends when the returned end is
    /// dropped.
    pub fn connect(&self) -> Duplex {
        self.connect_as(Caller::local())
    }

    /// Opens an in-process connection for this caller, for example to test permissions. Otherwise
    /// the same as [`connect`](Self::connect).
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

    /// Returns the server as a tower service that speaks HTTP and accepts loopback hosts only. Nest
    /// it in an axum router, or run it under hyper.
    #[cfg(feature = "http")]
    pub fn http(&self) -> HttpService {
        self.http_with(HttpSettings::default())
    }

    /// Returns the server as a tower service that speaks HTTP, with these settings: which hosts and
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
    /// If there is no secret, or if one of them is too short. Nothing is changed then.
    pub fn secrets(
        &self,
        secrets: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), WeakSecret> {
        let keys = key_ring(secrets)?.ok_or(WeakSecret(0))?;
        self.0.context.asks.set_keys(keys);
        Ok(())
    }

    /// Returns the catalog, which adds and removes entries while the server runs.
    ///
    /// After this call the server declares tools, prompts and resources to clients that connect, so
    /// that they are notified of additions. If
    /// [`Server::dynamic_tools`](crate::Server::dynamic_tools) or one of its siblings was called,
    /// only the lists chosen there are declared. Call it before the server is served.
    pub fn catalog(&self) -> Catalog {
        self.0.catalog.handed_out()
    }

    /// Returns a handle that notifies subscribers of changes, from anywhere in the program. The
    /// [catalog](Self::catalog) reports its own changes.
    pub fn changes(&self) -> Changes {
        self.0.context.changes.clone()
    }

    /// Returns how much of the [memory budget](crate::Server::memory_budget) is in use.
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

    /// Opens a connection for a transport of lines. Must be called inside a runtime.
    pub(crate) fn accept(&self, caller: Caller) -> (Connection, Outbox) {
        let outbox = Outbox::new(self.limits());
        (
            Connection::new(Arc::clone(&self.0), caller, outbox.clone()),
            outbox,
        )
    }
}
