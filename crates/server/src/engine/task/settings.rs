//! The settings of tasks, with their defaults and the reasons for them.

use std::time::Duration;

/// The default time for which a task runs and is stored, from its beginning. It is long enough for
/// nearly all work that a user waits for, and for coming back for the result. It is short enough
/// that forgotten results do not accumulate.
const TTL: Duration = Duration::from_hours(1);

/// The longest time that a client can request.
const MAX_TTL: Duration = Duration::from_hours(24);

/// The shortest time that a client gets: enough to ask for the status once.
pub(crate) const MIN_TTL: Duration = Duration::from_secs(1);

/// How long clients are asked to wait between two polls. A person does not notice a second.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The number of tasks of all callers that may run at once.
const MAX_RUNNING: usize = 1000;

/// The number of tasks of one caller that may run at once, so that one caller cannot take all
/// slots.
const MAX_RUNNING_PER_CALLER: usize = 100;

/// How many times a task may be taken over from a process that was killed. A task that crashes its
/// process must not end all replicas, one after the other.
const MAX_TAKEOVERS: u32 = 3;

/// How tasks run and how long they are stored. Pass it to [`Server::tasks`](crate::Server::tasks).
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_server::TaskSettings;
///
/// let settings = TaskSettings::default().ttl(Duration::from_hours(8)).max_running(50);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskSettings {
    /// How long a task runs and is stored, from its beginning, unless its client requests another
    /// time. Defaults to an hour. Work that is not finished by then is stopped.
    pub ttl: Duration,
    /// The longest time that a client may request. Defaults to 24 hours.
    pub max_ttl: Duration,
    /// How long clients are asked to wait between two polls. Defaults to one second.
    pub poll_interval: Duration,
    /// The number of tasks of all callers that may run at once in this process. Defaults to 1000;
    /// further calls are rejected.
    pub max_running: usize,
    /// The number of tasks of one caller that may run at once in this process. Defaults to 100.
    pub max_running_per_caller: usize,
    /// Whether questions are sent as tasks of the client, in sessions of 2025-11-25 whose clients
    /// support that. Defaults to `false`.
    pub asks_by_tasks: bool,
    /// How many times a task of a [restartable](crate::Tool::restartable) tool may be taken over by
    /// another replica because the replica that ran it was killed. Defaults to 3. Tasks that a
    /// replica hands over when it shuts down do not count.
    pub max_takeovers: u32,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self {
            ttl: TTL,
            max_ttl: MAX_TTL,
            poll_interval: POLL_INTERVAL,
            max_running: MAX_RUNNING,
            max_running_per_caller: MAX_RUNNING_PER_CALLER,
            asks_by_tasks: false,
            max_takeovers: MAX_TAKEOVERS,
        }
    }
}

impl TaskSettings {
    /// Sets how long a task runs and is stored, from its beginning. Defaults to an hour; at least a
    /// second. A client may request another time, from a second up to [`max_ttl`](Self::max_ttl),
    /// which is raised to this time if it is less.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl.max(MIN_TTL);
        self.max_ttl = self.max_ttl.max(self.ttl);
        self
    }

    /// Sets the longest time that a client may request; at least a second. A longer
    /// [`ttl`](Self::ttl) is reduced to it.
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl.max(MIN_TTL);
        self.ttl = self.ttl.min(self.max_ttl);
        self
    }

    /// Sets how long clients are asked to wait between two polls. Defaults to a second.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how many tasks of all callers may run at once on this process. Defaults to 1000.
    pub fn max_running(mut self, tasks: usize) -> Self {
        self.max_running = tasks;
        self
    }

    /// Sets how many tasks of one caller may run at once on this process. Defaults to 100.
    pub fn max_running_per_caller(mut self, tasks: usize) -> Self {
        self.max_running_per_caller = tasks;
        self
    }

    /// Sends questions to clients as tasks, in sessions of 2025-11-25 with clients that support it.
    /// The client then answers immediately with a task id, and the server fetches the answer later,
    /// so no request stays open while a person thinks. Off by default, because it needs one more
    /// request for each question.
    pub fn asks_by_tasks(mut self) -> Self {
        self.asks_by_tasks = true;
        self
    }

    /// Sets how many times a task of a [restartable](crate::Tool::restartable) tool may be taken
    /// over by another replica because the replica that ran it was killed. Defaults to 3.
    pub fn max_takeovers(mut self, times: u32) -> Self {
        self.max_takeovers = times;
        self
    }

    /// Returns the time that a task gets.
    pub(crate) fn grant(&self, asked: Option<u64>) -> Duration {
        match asked {
            None => self.ttl,
            Some(millis) => Duration::from_millis(millis).clamp(MIN_TTL, self.max_ttl),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_time_it_asks_for_within_reason() {
        let settings = TaskSettings::default().max_ttl(Duration::from_mins(2));
        assert_eq!(settings.grant(None), Duration::from_mins(2));
        assert_eq!(settings.grant(Some(0)), MIN_TTL);
        assert_eq!(settings.grant(Some(90_000)), Duration::from_secs(90));
        assert_eq!(settings.grant(Some(u64::MAX)), Duration::from_mins(2));
    }
}
