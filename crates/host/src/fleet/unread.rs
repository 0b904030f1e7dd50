//! Determines when lists that could not be read are tried again.

use std::time::Duration;

use tokio::time::{self, Instant};

/// The first pause. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause, so that a server that never returns one of its lists is asked rarely.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Determines when lists that could not be read are tried again. If a connection broke while a list
/// was read, the server does not report that the list changed, so the host has to retry.
pub(super) struct Unread {
    at: Option<Instant>,
    pause: Duration,
}

impl Unread {
    pub(super) fn new() -> Self {
        Self {
            at: None,
            pause: FIRST_PAUSE,
        }
    }

    /// Records whether a list could not be read.
    pub(super) fn note(&mut self, is_unread: bool) {
        if !is_unread {
            *self = Self::new();
        } else if self.at.is_none() {
            self.at = Some(Instant::now() + self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits until the next attempt is due, or forever if all lists were read.
    pub(super) async fn is_due(&mut self) {
        match self.at {
            Some(at) => time::sleep_until(at).await,
            None => std::future::pending().await,
        }
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_pauses_double_until_all_lists_are_read() {
        let mut unread = Unread::new();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let began = Instant::now();
            unread.note(true);
            // Further notes in between change nothing.
            unread.note(true);
            unread.is_due().await;
            pauses.push(began.elapsed().as_secs());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
        unread.note(false);
        let never = time::timeout(Duration::from_hours(1), unread.is_due()).await;
        assert!(never.is_err(), "there is nothing to read again");
        unread.note(true);
        let began = Instant::now();
        unread.is_due().await;
        assert_eq!(began.elapsed().as_secs(), 5);
    }
}
