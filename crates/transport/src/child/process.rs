//! The state of a child process, shared by its handle, its pipes, and the threads that watch and end
//! it.

use std::process::ExitStatus;
use std::sync::Condvar;
use std::task::{Context, Poll, Waker};
#[cfg(unix)]
use std::time::Duration;
use std::time::Instant;

use tokio::process::ChildStdin;
use tokio::sync::Notify;
use turnbuckle_base::lock::{Mutex, MutexGuard, wait_within};

use super::end::Ended;
use super::group::Group;
#[cfg(unix)]
use super::watchdog::Watchdog;

/// The pipe that waits for the end of the process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pipe {
    Stdin,
    Stdout,
    Stderr,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) group: Group,
    life: Mutex<Life>,
    /// Notifies threads that `life` has changed.
    changed: Condvar,
    /// Notifies tasks that `life` has changed.
    news: Notify,
    #[cfg(unix)]
    watchdog: Mutex<Option<Watchdog>>,
}

#[derive(Debug, Default)]
struct Life {
    /// Kept here so that ending the process closes it, independently of the connection.
    stdin: Option<ChildStdin>,
    exit: Exit,
    is_reaped: bool,
    is_ending: bool,
    ended: Option<Ended>,
    /// The wakers of the pipes, indexed by [`Pipe`].
    wakers: [Option<Waker>; 3],
}

/// Whether the child itself has exited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Exit {
    #[default]
    NotYet,
    With(ExitStatus),
    /// Exited, but the system did not report the status.
    Somehow,
}

impl Process {
    pub(super) fn new(group: Group) -> Self {
        let life = Mutex::new(Life::default());
        Self {
            group,
            life,
            changed: Condvar::new(),
            news: Notify::new(),
            #[cfg(unix)]
            watchdog: Mutex::default(),
        }
    }

    /// Starts a watchdog outside this process that ends the group.
    #[cfg(unix)]
    pub(super) fn guard(&self, grace: Duration) {
        let watchdog = Watchdog::over(self.group.id(), grace);
        *self.watchdog.lock() = watchdog;
    }

    /// Dismisses the watchdog, because the group has ended.
    #[cfg(unix)]
    pub(super) fn dismiss_guard(&self) {
        let watchdog = self.watchdog.lock().take();
        if let Some(watchdog) = watchdog {
            watchdog.dismiss();
        }
    }

    pub(super) fn open_stdin(&self, stdin: ChildStdin) {
        self.life.lock().stdin = Some(stdin);
    }

    /// Closes the child's input, and wakes the task that waits to write there.
    pub(super) fn close_stdin(&self) {
        let mut life = self.life.lock();
        let stdin = life.stdin.take();
        let waker = life.wakers[Pipe::Stdin as usize].take();
        drop(life);
        drop(stdin);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Uses the child's input, if it is open. A waiting task is woken when it is closed.
    pub(super) fn with_stdin<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut ChildStdin, &mut Context<'_>) -> Poll<T>,
    ) -> Option<Poll<T>> {
        let mut life = self.life.lock();
        let polled = poll(life.stdin.as_mut()?, cx);
        if polled.is_pending() {
            life.wakers[Pipe::Stdin as usize] = Some(cx.waker().clone());
        }
        Some(polled)
    }

    /// Ready when the process has ended, with all processes of its group that could be ended.
    pub(super) fn poll_ended(&self, pipe: Pipe, cx: &mut Context<'_>) -> Poll<()> {
        let mut life = self.life.lock();
        if life.ended.is_some() {
            return Poll::Ready(());
        }
        life.wakers[pipe as usize] = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Runs on the watching thread: waits for the exit and notifies others.
    pub(super) fn watch(&self) {
        let exit = self.group.wait();
        let mut life = self.life.lock();
        life.exit = exit.map_or(Exit::Somehow, Exit::With);
        if life.ended.is_some() {
            // The thread that ended the process did not wait until now.
            self.reap_in(&mut life);
        }
        self.tell(life);
    }

    /// Waits for the exit until `deadline`, and reaps the child if it has exited.
    pub(super) fn is_reaped_by(&self, deadline: Instant) -> bool {
        let mut life = self.life.lock();
        while life.exit == Exit::NotYet {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            life = wait_within(&self.changed, life, left);
        }
        self.reap_in(&mut life);
        true
    }

    /// The exit status, if the child has exited and its status is known.
    pub(super) fn exit_status(&self) -> Option<ExitStatus> {
        match self.life.lock().exit {
            Exit::With(status) => Some(status),
            Exit::NotYet | Exit::Somehow => None,
        }
    }

    /// Returns true for the first caller only, which then ends the process.
    pub(super) fn begin_ending(&self) -> bool {
        !std::mem::replace(&mut self.life.lock().is_ending, true)
    }

    pub(super) fn set_ended(&self, ended: Ended) {
        let mut life = self.life.lock();
        life.ended = Some(ended);
        if life.exit != Exit::NotYet {
            self.reap_in(&mut life);
        }
        self.tell(life);
    }

    pub(super) async fn exited(&self) -> Option<ExitStatus> {
        self.when(|life| match life.exit {
            Exit::NotYet => None,
            Exit::With(_) | Exit::Somehow => Some(()),
        })
        .await;
        self.exit_status()
    }

    pub(super) async fn ended(&self) -> Ended {
        self.when(|life| life.ended).await
    }

    async fn when<T>(&self, known: impl Fn(&Life) -> Option<T>) -> T {
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            if let Some(value) = known(&self.life.lock()) {
                return value;
            }
            news.await;
        }
    }

    /// Reaps the child once. It must have exited.
    fn reap_in(&self, life: &mut Life) {
        if !std::mem::replace(&mut life.is_reaped, true) {
            self.group.reap();
        }
    }

    fn tell(&self, mut life: MutexGuard<'_, Life>) {
        let is_ended = life.ended.is_some();
        let wakers = if is_ended {
            std::mem::take(&mut life.wakers)
        } else {
            Default::default()
        };
        drop(life);
        self.changed.notify_all();
        self.news.notify_waiters();
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}
