//! `Connection`: an open connection to one server.

use std::{fmt, sync::Arc, time::Duration};

use tokio::task::AbortHandle;
use turnbuckle_protocol::ReadWarning;
use turnbuckle_session::DetectedRevision;
use turnbuckle_transport::StderrLog;

#[cfg(feature = "http")]
use crate::tool::ExcludedTool;
use crate::{
    error::Ending,
    link::{Link, Opened},
    notifications::{Interest, LogStream, NotificationStream},
    peer::Peer,
};

/// An open connection to one server, made by [`Client::connect`](crate::Client::connect). Clones
/// share it, and any number of calls can be in progress at a time.
///
/// Its methods send requests: [`tools`](Self::tools) and [`call`](Self::call),
/// [`resources`](Self::resources) and [`read`](Self::read), [`prompts`](Self::prompts) and
/// [`get`](Self::get). When the last clone is dropped, the connection is closed and the server's
/// process ended without waiting; [`close`](Self::close) waits and returns how it ended.
///
/// A connection to a process ends with the process; connect again. A connection to a URL survives
/// network failures: later calls try again, and an expired session is replaced by a new one.
#[derive(Clone)]
pub struct Connection {
    opened: Arc<Opened>,
    peer: Arc<Peer>,
    detected: DetectedRevision,
}

impl Connection {
    pub(crate) fn new(opened: Opened, peer: Arc<Peer>, detected: DetectedRevision) -> Self {
        Self {
            opened: Arc::new(opened),
            peer,
            detected,
        }
    }

    /// Returns the server's name, revision and capabilities. They do not change while the connection is
    /// open.
    pub fn server(&self) -> &Peer {
        &self.peer
    }

    /// Returns the detected revision of the server. Pass it to
    /// [`Connect::known_revision`](crate::Connect::known_revision) the next time to skip the probe.
    pub fn detected_revision(&self) -> DetectedRevision {
        self.detected
    }

    /// Returns a stream of the server's notifications, beginning now.
    ///
    /// ```no_run
    /// use turnbuckle_client::{Connection, ServerNotification};
    ///
    /// # async fn run(server: Connection) {
    /// let mut notifications = server.notifications();
    /// while let Some(notification) = notifications.next().await {
    ///     if let ServerNotification::ToolsChanged = notification {
    ///         println!("{:?}", server.tools().await);
    ///     }
    /// }
    /// # }
    /// ```
    pub fn notifications(&self) -> NotificationStream {
        self.link().feed.listen(Interest::Everything)
    }

    /// Returns a stream of the server's log messages, beginning now. Ask for messages with
    /// [`set_log_level`](Self::set_log_level), [`Client::log_level`](crate::Client::log_level) or
    /// [`ClientCall::log_level`](crate::ClientCall::log_level).
    pub fn logs(&self) -> LogStream {
        LogStream::new(&self.link().feed)
    }

    /// Returns warnings about messages of the server that break the specification: entries of lists and
    /// parts of results that were left out, so that the rest could be read. Each warning is returned
    /// once, oldest first; at most the newest 256 are kept until then. Warnings are logged too.
    ///
    /// ```no_run
    /// # async fn example(connection: turnbuckle_client::Connection)
    /// # -> Result<(), turnbuckle_client::CallError> {
    /// let tools = connection.tools().await?;
    /// for warning in connection.warnings() {
    ///     // `/tools/3` in the answer to `tools/list`: `name` is missing; left out
    ///     eprintln!("{warning}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn warnings(&self) -> Vec<ReadWarning> {
        self.link().warnings.take()
    }

    /// Returns the standard error of the server's process, if it is captured. Servers write their logs
    /// to it, so output does not mean that something failed.
    pub fn stderr(&self) -> Option<&StderrLog> {
        self.opened.stderr.as_ref()
    }

    /// Whether the server cannot be reached: the connection has ended, or the server at its URL did
    /// not answer the last attempt. It becomes false again when the server is back;
    /// [`Client::keep_alive`](crate::Client::keep_alive) detects both without a call.
    pub fn is_closed(&self) -> bool {
        let is_down = self.link().wire.http().is_some_and(|http| http.is_down());
        self.link().is_closed() || is_down
    }

    /// Whether the connection has ended for good. A connection to a URL has not ended while its server
    /// is unreachable: the next call tries again.
    pub fn has_ended(&self) -> bool {
        self.link().is_closed()
    }

    /// Whether both are clones of one connection. Two connections to the same server are different.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }

    /// Waits until the connection ends, and returns how it ended.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn closed(&self) -> Arc<Ending> {
        self.link().lifecycle.ended().await
    }

    /// Closes the connection: sends the queued messages, ends the server's process or session, and
    /// returns how it ended. Calls in progress fail with
    /// [`CallError::Closed`](crate::CallError::Closed).
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the closing.
    pub async fn close(&self) -> Arc<Ending> {
        self.opened.close().await
    }

    /// Closes the connection like [`close`](Self::close), but within this time: a process that still
    /// runs after half of it is terminated, and killed before the time is over. Returns `None` if the
    /// process still runs then.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the closing.
    pub async fn close_within(&self, time: Duration) -> Option<Arc<Ending>> {
        self.link().lifecycle.hurry(time * 2 / 5);
        tokio::time::timeout(time, self.close()).await.ok()
    }

    /// Whether the server uses the HTTP+SSE transport of 2024-11-05, which was detected when
    /// connecting. False for Streamable HTTP and for processes.
    pub fn uses_http_sse(&self) -> bool {
        let http = self.link().wire.http();
        http.is_some_and(|http| http.uses_http_sse())
    }

    /// Returns the tools of the last list that were left out because their header annotations are
    /// invalid. Only servers at a URL have such tools.
    #[cfg(feature = "http")]
    pub fn excluded_tools(&self) -> Vec<ExcludedTool> {
        self.link().tools.excluded()
    }

    pub(crate) fn link(&self) -> &Link {
        &self.opened.link
    }

    /// Leaves the session at a URL open when this connection is closed. Use it when the session
    /// still has work to do, such as a task: some servers end the tasks of a session with it. The
    /// server ends the session itself when it has not been used for a while.
    pub fn leave_session_open(&self) {
        self.link().lifecycle.keep_session();
    }

    /// Notifies the server that its list of roots has changed. Call it when
    /// [`Client::on_roots`](crate::Client::on_roots) would now return other roots. Modern servers ask
    /// whenever they need the list, and are not notified.
    pub fn roots_changed(&self) {
        self.link().announce_roots();
    }

    /// Starts to ping the server, if the client is set to do so.
    pub(crate) fn keep_alive(&self) {
        if let Some(settings) = self.link().profile().settings.keep_alive {
            let link = self.shared_link();
            self.run(async move { link.keep_alive(settings).await });
        }
    }

    /// Watches the roots that a handler returned to this server, if there is such a handler.
    pub(crate) fn watch_given_roots(&self) {
        if self.link().profile().answers.has_roots_by_server() {
            let (link, roots) = (self.shared_link(), self.peer.roots().clone());
            self.run(async move { roots.announce(|| link.announce_roots()).await });
        }
    }

    /// Returns a shared link, for tasks that outlive a borrow.
    pub(crate) fn shared_link(&self) -> Arc<Link> {
        self.opened.link.clone()
    }

    /// Runs a task that sends a last message. Closing the connection waits for it for a moment.
    pub(crate) fn run_parting(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.opened.spawn_parting(task);
    }

    /// Runs a task for as long as the connection is open.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.opened.spawn(task)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.peer.name())
            .field("revision", &self.peer.revision())
            .finish_non_exhaustive()
    }
}
