//! Which revision a program spoke the last time, for programs whose probe took long.
//!
//! A program that hangs on `server/discover` costs five seconds before it is tried otherwise. The
//! client remembers that for as long as it runs, and a command runs once: so it is kept in a file.

use std::time::{Duration, Instant};

use turnbuckle::{
    Connection,
    client::{Connect, DetectedRevision, Era},
    host::config::Launch,
};
use turnbuckle_command_line::target::{Options, Server};

use crate::cache::{self, Cache};

/// A probe that was shorter is not worth remembering.
const LONG: Duration = Duration::from_secs(4);

/// A day: a program that was updated may speak a newer revision.
const CACHE: Cache = Cache {
    name: "revisions",
    age: Duration::from_hours(24),
};

/// Where the revision of one server is remembered.
pub(crate) struct KnownRevision {
    key: Option<String>,
    is_known: bool,
    started: Instant,
}

impl KnownRevision {
    /// Looks it up. Only programs are remembered, and only where the command line pins nothing.
    pub(crate) fn look_up(server: &Server, options: &Options, connect: Connect) -> (Self, Connect) {
        let key = key(server, options);
        let known: Option<DetectedRevision> = key.as_deref().and_then(|key| CACHE.read(key));
        if let Some(key) = key.as_deref().filter(|_| known.is_some()) {
            // It is written again when it was right. A program that was changed may hang on it.
            CACHE.remove(key);
        }
        let known_revision = Self {
            key,
            is_known: known.is_some(),
            started: Instant::now(),
        };
        let connect = match known {
            Some(detected) => connect.known_revision(detected),
            None => connect,
        };
        (known_revision, connect)
    }

    /// Remembers what the program spoke, if it took long to find out.
    pub(crate) fn connected(&self, connection: &Connection) {
        let Some(key) = &self.key else { return };
        let detected = connection.detected_revision();
        let is_slow = self.started.elapsed() >= LONG;
        // A program that took long although its revision was known is probed again the next time.
        if detected.era() == Era::Legacy && is_slow != self.is_known {
            CACHE.write(key, &detected);
        }
    }
}

fn key(server: &Server, options: &Options) -> Option<String> {
    let Launch::Command {
        program,
        arguments,
        environment,
        folder,
    } = &server.launch
    else {
        return None;
    };
    let is_pinned = options.revision.is_some() || options.era.is_some();
    (!is_pinned).then(|| cache::key((program, arguments, environment, folder)))
}
