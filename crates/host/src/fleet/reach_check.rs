//! Checks whether a server at a URL can still be reached.
//!
//! A connection to a URL does not end when its server does, because each request is a connection of
//! its own. So the supervisor checks whether the last attempt to reach the server failed, and pings
//! it before it regards the server as gone.

use std::time::Duration;

use tokio::time::{self, Instant, MissedTickBehavior};
use turnbuckle_client::{CallError, Connection};

use super::ServerFailure;

/// How often the supervisor checks whether requests reach the server. The check itself sends nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often a server is pinged if the host has no open stream of its changes, whose end would show
/// that the server is gone.
const PING_EVERY: Duration = Duration::from_mins(1);

/// How many pings in a row have to fail.
const PINGS: u32 = 3;

/// The pause between two pings.
const PING_PAUSE: Duration = Duration::from_millis(500);

/// How long a server may take to answer a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Determines when a server is pinged.
pub(super) struct ReachCheck {
    looks: time::Interval,
    pinged_at: Instant,
}

impl ReachCheck {
    pub(super) fn new() -> Self {
        let first = Instant::now() + LOOK_EVERY;
        let mut looks = time::interval_at(first, LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            looks,
            pinged_at: Instant::now(),
        }
    }

    /// Waits until the next check is due.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn is_due(&mut self) {
        self.looks.tick().await;
    }

    /// Checks the server. Returns why it is gone, or `None` while requests reach it.
    pub(super) async fn look(
        &mut self,
        connection: &Connection,
        is_listened_to: bool,
    ) -> Option<ServerFailure> {
        let is_due = !is_listened_to && self.pinged_at.elapsed() >= PING_EVERY;
        if !is_due && !connection.is_closed() {
            return None;
        }
        self.ask(connection).await
    }

    /// Pings the server. Returns why it is gone, or `None` if it can be reached. A server that
    /// answers slowly is reachable.
    pub(super) async fn ask(&mut self, connection: &Connection) -> Option<ServerFailure> {
        self.pinged_at = Instant::now();
        let mut last = None;
        for number in 0..PINGS {
            if number > 0 {
                time::sleep(PING_PAUSE).await;
            }
            let answer = connection.ping().deadline(PING_TIMEOUT).await;
            match answer {
                Err(error) if is_unreachable(connection) => last = Some(error),
                _ => return None,
            }
        }
        let error: CallError = last?;
        Some(ServerFailure::unreachable(&error))
    }
}

/// Whether the last attempt did not reach the server. A connection that has ended is reported elsewhere.
fn is_unreachable(connection: &Connection) -> bool {
    connection.is_closed() && !connection.has_ended()
}
