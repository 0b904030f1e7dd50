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
    state: Mutex<ProcessState>,
    /// Notifies threads that `state` has changed.
    changed: Condvar,
    /// Notifies tasks that `state` has changed.
    news: Notify,
    #[cfg(unix)]
    watchdog: Mutex<Option<Watchdog>>,
}

#[derive(Debug, Default)]
struct ProcessState {
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
        let state = Mutex::new(ProcessState::default());
        Self {
            group,
            state,
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
        self.state.lock().stdin = Some(stdin);
    }

    /// Closes the child's input, and wakes the task that waits to write there.
    pub(super) fn close_stdin(&self) {
        let mut state = self.state.lock();
        let stdin = state.stdin.take();
        let waker = state.wakers[Pipe::Stdin as usize].take();
        drop(state);
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
        let mut state = self.state.lock();
        let polled = poll(state.stdin.as_mut()?, cx);
        if polled.is_pending() {
            state.wakers[Pipe::Stdin as usize] = Some(cx.waker().clone());
        }
        Some(polled)
    }

    /// Ready when the process has ended, with all processes of its group that could be ended.
    pub(super) fn poll_ended(&self, pipe: Pipe, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.ended.is_some() {
            return Poll::Ready(());
        }
        state.wakers[pipe as usize] = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Runs on the watching thread: waits for the exit and notifies others.
    pub(super) fn watch(&self) {
        let exit = self.group.wait();
        let mut state = self.state.lock();
        state.exit = exit.map_or(Exit::Somehow, Exit::With);
        if state.ended.is_some() {
            // The thread that ended the process did not wait until now.
            self.reap_in(&mut state);
        }
        self.tell(state);
    }

    /// Waits for the exit until `deadline`, and reaps the child if it has exited.
    pub(super) fn is_reaped_by(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        while state.exit == Exit::NotYet {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = wait_within(&self.changed, state, left);
        }
        self.reap_in(&mut state);
        true
    }

    /// The exit status, if the child has exited and its status is known.
    pub(super) fn exit_status(&self) -> Option<ExitStatus> {
        match self.state.lock().exit {
            Exit::With(status) => Some(status),
            Exit::NotYet | Exit::Somehow => None,
        }
    }

    /// Returns true for the first caller only, which then ends the process.
    pub(super) fn begin_ending(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_ending, true)
    }

    pub(super) fn set_ended(&self, ended: Ended) {
        let mut state = self.state.lock();
        state.ended = Some(ended);
        if state.exit != Exit::NotYet {
            self.reap_in(&mut state);
        }
        self.tell(state);
    }

    pub(super) async fn exited(&self) -> Option<ExitStatus> {
        self.when(|state| match state.exit {
            Exit::NotYet => None,
            Exit::With(_) | Exit::Somehow => Some(()),
        })
        .await;
        self.exit_status()
    }

    pub(super) async fn ended(&self) -> Ended {
        self.when(|state| state.ended).await
    }

    async fn when<T>(&self, known: impl Fn(&ProcessState) -> Option<T>) -> T {
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            if let Some(value) = known(&self.state.lock()) {
                return value;
            }
            news.await;
        }
    }

    /// Reaps the child once. It must have exited.
    fn reap_in(&self, state: &mut ProcessState) {
        if !std::mem::replace(&mut state.is_reaped, true) {
            self.group.reap();
        }
    }

    fn tell(&self, mut state: MutexGuard<'_, ProcessState>) {
        let is_ended = state.ended.is_some();
        let wakers = if is_ended {
            std::mem::take(&mut state.wakers)
        } else {
            Default::default()
        };
        drop(state);
        self.changed.notify_all();
        self.news.notify_waiters();
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}
