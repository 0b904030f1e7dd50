//! An open connection to one server.

use std::{fmt, sync::Arc, time::Duration};

use tokio::task::AbortHandle;
use turnbuckle_protocol::ReadWarning;
use turnbuckle_session::Verdict;
use turnbuckle_transport::StderrLog;

#[cfg(feature = "http")]
use crate::tool::ExcludedTool;
use crate::{
    error::Ending,
    link::{Link, Opened},
    news::{Interest, LogStream, NewsStream},
    peer::Peer,
};

/// An open connection to one server. Clones share it.
///
/// When the last clone is dropped the connection ends, and the server's process with it, without
/// waiting for either; [`close`](Self::close) waits, and says how that went.
#[derive(Clone)]
pub struct Connection {
    opened: Arc<Opened>,
    peer: Arc<Peer>,
    verdict: Verdict,
}

impl Connection {
    pub(crate) fn new(opened: Opened, peer: Arc<Peer>, verdict: Verdict) -> Self {
        Self {
            opened: Arc::new(opened),
            peer,
            verdict,
        }
    }

    /// Who is at the other end.
    pub fn server(&self) -> &Peer {
        &self.peer
    }

    /// What the server was found to speak. Give it to
    /// [`Connect::remember`](crate::Connect::remember) the next time.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// What the server says unasked, from now on.
    pub fn news(&self) -> NewsStream {
        self.link().feed.listen(Interest::Everything)
    }

    /// What the server logs, from now on, as far as it was asked to:
    /// [`set_log_level`](Self::set_log_level), [`Client::log_level`](crate::Client::log_level) or
    /// [`Call::log_level`](crate::Call::log_level).
    pub fn logs(&self) -> LogStream {
        LogStream::new(&self.link().feed)
    }

    /// What the server sent that is not what the specification says: entries of lists and parts of
    /// results that were left out, so that the rest could be read. Each is given once, oldest first;
    /// the newest 256 are kept until then. They are logged too.
    ///
    /// ```no_run
    /// # async fn example(connection: turnbuckle_client::Connection)
    /// # -> Result<(), turnbuckle_client::CallError> {
    /// let tools = connection.tools().await?;
    /// for warning in connection.warnings() {
    ///     // `/tools/3` in the answer to `tools/list`: missing field `name`; left out
    ///     eprintln!("{warning}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn warnings(&self) -> Vec<ReadWarning> {
        self.link().warnings.take()
    }

    /// What the server's process prints to its standard error, if that is captured. It is a log,
    /// and no sign of failure.
    pub fn stderr(&self) -> Option<&StderrLog> {
        self.opened.stderr.as_ref()
    }

    /// Whether nothing can be asked: the connection has ended, or the server at its URL did not
    /// answer the last time it was tried. A server that is back makes it false again;
    /// [`Client::keep_alive`](crate::Client::keep_alive) finds out without a call.
    pub fn is_closed(&self) -> bool {
        let is_down = self.link().wire.http().is_some_and(|http| http.is_down());
        self.link().is_closed() || is_down
    }

    /// Whether both are clones of one connection.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }

    /// Waits for the connection to end, by whichever side.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn closed(&self) -> Arc<Ending> {
        self.link().lifecycle.ended().await
    }

    /// Closes the connection: sends what is queued, ends the server's process or session, and says
    /// how that went. Calls that still wait are told that the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop what has begun.
    pub async fn close(&self) -> Arc<Ending> {
        self.opened.close().await
    }

    /// Closes the connection as [`close`](Self::close) does, in this time: a process that has not
    /// ended by itself in half of it is asked to, and killed before it is over. `None` if it is not
    /// gone then.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop what has begun.
    pub async fn close_within(&self, time: Duration) -> Option<Arc<Ending>> {
        self.link().lifecycle.hurry(time * 2 / 5);
        tokio::time::timeout(time, self.close()).await.ok()
    }

    /// Whether answers come by a stream of events (HTTP+SSE).
    pub fn is_answered_by_events(&self) -> bool {
        let http = self.link().wire.http();
        http.is_some_and(|http| http.is_answered_by_events())
    }

    /// The tools that the last list had and that were left out, because what they want repeated in
    /// headers cannot be. Only servers at a URL have such.
    #[cfg(feature = "http")]
    pub fn excluded_tools(&self) -> Vec<ExcludedTool> {
        self.link().tools.excluded()
    }

    pub(crate) fn link(&self) -> &Link {
        &self.opened.link
    }

    /// Tells the server that it would get another list of roots now, as
    /// [`Client::on_roots`](crate::Client::on_roots) gives it. Modern servers ask when they need it,
    /// and are not told.
    pub fn roots_changed(&self) {
        self.link().announce_roots();
    }

    /// Asks the server for signs of life, if the client wants them.
    pub(crate) fn keep_alive(&self) {
        if let Some(settings) = self.link().profile().settings.keep_alive {
            let link = self.shared_link();
            self.run(async move { link.keep_alive(settings).await });
        }
    }

    /// The same for what outlives a borrow.
    pub(crate) fn shared_link(&self) -> Arc<Link> {
        self.opened.link.clone()
    }

    /// Lets something be said before the connection is closed, which waits for it a moment.
    pub(crate) fn run_parting(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.opened.spawn_parting(task);
    }

    /// Lets something run for as long as the connection is there.
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
