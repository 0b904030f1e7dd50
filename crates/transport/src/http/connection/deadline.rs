//! Detects connections that have waited too long.
//!
//! The timer is not reset for each request: it fires at the earliest time that was ever set, and is
//! then set again if a new wait began meanwhile. A connection that is busy from its first request on,
//! such as one with an open stream, has no timer at all.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::state::WaitsFor;
use crate::http::Settings;

/// The deadline of the current wait of a connection.
pub(super) struct Deadline {
    settings: Settings,
    phase: WaitsFor,
    at: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            phase: WaitsFor::Busy,
            at: Instant::now(),
            timer: None,
        }
    }

    /// Ready when the wait of this phase has lasted too long. A phase that is equal counts as the same
    /// wait.
    ///
    /// Must always be polled by the same task, because the timer's waker is only registered once.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, phase: WaitsFor) -> Poll<()> {
        if phase != self.phase {
            self.phase = phase;
            if let Some(timeout) = self.timeout() {
                self.at = Instant::now() + timeout;
            }
        }
        if phase == WaitsFor::Busy || self.will_be_woken() {
            return Poll::Pending;
        }
        let timer = match &mut self.timer {
            Some(timer) => {
                timer.as_mut().reset(self.at);
                timer
            }
            None => self
                .timer
                .insert(Box::pin(tokio::time::sleep_until(self.at))),
        };
        timer.as_mut().poll(cx)
    }

    fn timeout(&self) -> Option<Duration> {
        match self.phase {
            WaitsFor::Busy => None,
            WaitsFor::Head(_) | WaitsFor::Farewell => Some(self.settings.header_timeout),
            WaitsFor::Idle(_) => Some(self.settings.idle_timeout),
            WaitsFor::Stalled(_) | WaitsFor::Unread(_) => Some(self.settings.write_timeout),
        }
    }

    /// Whether the timer fires in time, or earlier, which is harmless.
    fn will_be_woken(&self) -> bool {
        self.timer
            .as_ref()
            .is_some_and(|timer| !timer.is_elapsed() && timer.deadline() <= self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn deadline() -> Deadline {
        let settings = Settings::default()
            .with_header_timeout(seconds(10))
            .with_idle_timeout(seconds(100))
            .with_write_timeout(seconds(50));
        Deadline::new(settings)
    }

    async fn wait(deadline: &mut Deadline, phase: WaitsFor) -> Duration {
        let start = Instant::now();
        poll_fn(|cx| deadline.poll(cx, phase)).await;
        start.elapsed()
    }

    async fn is_over(deadline: &mut Deadline, phase: WaitsFor) -> bool {
        poll_fn(|cx| Poll::Ready(deadline.poll(cx, phase).is_ready())).await
    }

    #[tokio::test(start_paused = true)]
    async fn each_wait_has_its_own_timeout() {
        for (phase, timeout) in [
            (WaitsFor::Head(0), 10),
            (WaitsFor::Idle(0), 100),
            (WaitsFor::Stalled(0), 50),
        ] {
            let waited = wait(&mut deadline(), phase).await;
            assert!(
                waited >= seconds(timeout) && waited < seconds(timeout + 1),
                "{phase:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_starts_a_new_wait() {
        let mut deadline = deadline();
        assert!(!is_over(&mut deadline, WaitsFor::Idle(1)).await);
        tokio::time::advance(seconds(90)).await;
        assert!(!is_over(&mut deadline, WaitsFor::Idle(2)).await);
        tokio::time::advance(seconds(20)).await;
        assert!(
            !is_over(&mut deadline, WaitsFor::Idle(2)).await,
            "the old end"
        );
        let waited = wait(&mut deadline, WaitsFor::Idle(2)).await;
        assert!(waited >= seconds(79) && waited < seconds(81), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_of_a_head_shortens_the_wait() {
        let mut deadline = deadline();
        assert!(!is_over(&mut deadline, WaitsFor::Idle(1)).await);
        let waited = wait(&mut deadline, WaitsFor::Head(1)).await;
        assert!(waited < seconds(11), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn more_of_the_same_head_renews_nothing() {
        let mut deadline = deadline();
        for _ in 0..4 {
            assert!(!is_over(&mut deadline, WaitsFor::Head(0)).await);
            tokio::time::advance(seconds(2)).await;
        }
        assert!(wait(&mut deadline, WaitsFor::Head(0)).await < seconds(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_connection_does_not_time_out() {
        let mut deadline = deadline();
        assert!(!is_over(&mut deadline, WaitsFor::Idle(1)).await);
        tokio::time::advance(seconds(1000)).await;
        assert!(!is_over(&mut deadline, WaitsFor::Busy).await);
        assert!(!is_over(&mut deadline, WaitsFor::Idle(2)).await);
    }
}
