//! The tasks of one connection: for I/O, for deadlines, and for changed roots.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::task::{AbortHandle, JoinSet};
use turnbuckle_base::{error_chain, lock::Mutex};
use turnbuckle_transport::{Child, StderrLog, TransportError, run};

use super::{Link, Pipe, inbound::Inbound};
use crate::{
    error::Ending,
    future::{First, race},
    profile::Profile,
};

/// How long callers wait for the exit status and last output of a lost server before they get an error
/// without them: half a second, in which a failing process usually exits.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long the output of a server may stay open after its process has exited. After that, only a child
/// process that the server has left behind holds it open, and will not answer anything.
const ORPHANED_OUTPUT: Duration = Duration::from_secs(1);

/// A connection with its tasks. Dropping it ends the tasks and the server's process.
pub(crate) struct Opened {
    pub(crate) link: Arc<Link>,
    /// The standard error of the server's process, if it has one.
    pub(crate) stderr: Option<StderrLog>,
    /// Dropping it aborts the tasks.
    tasks: Mutex<JoinSet<()>>,
    /// Messages that are still sent when the connection is closed.
    parting: Mutex<JoinSet<()>>,
}

/// Starts the tasks of a connection.
pub(crate) fn open(server: Arc<str>, profile: Arc<Profile>, pipe: Pipe) -> Opened {
    let link = Arc::new(Link::new(server, profile));
    let stderr = pipe.child.as_ref().map(|child| child.stderr().clone());
    Opened::start(link.clone(), stderr, drive(link, pipe))
}

impl Opened {
    /// Starts a connection that `driver` drives; when the driver ends, the connection ends.
    pub(crate) fn start(
        link: Arc<Link>,
        stderr: Option<StderrLog>,
        driver: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let kept = link.clone();
        tasks.spawn(async move {
            let _end = EndOnDrop(&kept);
            driver.await;
        });
        let timed = link.clone();
        tasks.spawn(async move { timed.pending.keep_time().await });
        if let Some(roots) = link.profile().answers.listed_roots() {
            let (told, mut watch) = (link.clone(), roots.watch());
            tasks.spawn(async move {
                while watch.changed().await {
                    told.announce_roots();
                }
            });
        }
        Self {
            link,
            stderr,
            tasks: Mutex::new(tasks),
            parting: Mutex::default(),
        }
    }

    /// Runs a task for as long as the connection is open.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task)
    }

    /// Runs a task that sends a last message. Closing the connection waits for it for a moment.
    pub(crate) fn spawn_parting(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut parting = self.parting.lock();
        while parting.try_join_next().is_some() {}
        parting.spawn(task);
    }

    /// Sends the last messages, closes the connection and waits for the server to end.
    pub(crate) async fn close(&self) -> Arc<Ending> {
        let parting = {
            let mut parting = self.parting.lock();
            std::mem::take(&mut *parting)
        };
        let said = async {
            parting.join_all().await;
            // A call that was given up just now still sends its cancellation.
            while self.link.manual.is_anyone_leaving() {
                tokio::task::yield_now().await;
            }
        };
        // A server that does not read is not waited for.
        let _ = tokio::time::timeout(LAST_WORDS, said).await;
        self.link.wire.close();
        self.link.lifecycle.ended().await
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.tasks.get_mut().abort_all();
        self.link.wire.release();
    }
}

async fn drive(link: Arc<Link>, pipe: Pipe) {
    let Pipe {
        reader,
        writer,
        child,
    } = pipe;
    let inbound = Inbound::new(link.clone());
    let limits = link.profile().settings.limits;
    let moved = run(reader, writer, inbound, link.wire.outbox(), limits);
    let Some(child) = child else {
        let failure = failure(moved.await);
        return link.end(Ending {
            failure,
            ..Ending::default()
        });
    };
    let over = race(outlived(&child), pressed(&link));
    let failure = match race(moved, over).await {
        First::Left(outcome) => failure(outcome),
        First::Right(_) => None,
    };
    end_process(&link, child, failure).await;
}

/// Ends everything that waits when the driver is dropped, even if it did not finish: a listener of the
/// application may panic.
struct EndOnDrop<'a>(&'a Link);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Ends the process step by step. Waiting calls fail before all steps are done.
async fn end_process(link: &Link, child: Child, failure: Option<String>) {
    let log = child.stderr().clone();
    let told = |process| Ending::new(process, &log, failure.clone());
    let mut shutdown = pin!(child.shutdown(link.lifecycle.grace()));
    let prompt = tokio::time::timeout(LAST_WORDS, shutdown.as_mut()).await;
    let ended = if let Ok(ended) = prompt {
        ended
    } else {
        link.lose(told(None));
        shutdown.await
    };
    link.end(told(Some(ended)));
}

/// Completes when the process has exited, and another process has kept its output open for too long.
async fn outlived(child: &Child) {
    child.exited().await;
    tokio::time::sleep(ORPHANED_OUTPUT).await;
}

/// Completes when the connection must end soon, and the last messages have had time to be sent.
async fn pressed(link: &Link) {
    link.lifecycle.hurried().await;
    tokio::time::sleep(link.lifecycle.grace() / 4).await;
}

fn failure(outcome: Result<(), TransportError>) -> Option<String> {
    outcome.err().map(|error| error_chain::in_one_line(&error))
}
