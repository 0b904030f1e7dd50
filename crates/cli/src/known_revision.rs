//! Remembers the revision of programs whose detection took long.
//!
//! If a program hangs on `server/discover`, five seconds pass before the client tries `initialize`. The
//! client remembers that while it runs; a command runs only once, so it keeps it in a file.

use std::time::{Duration, Instant};

use turnbuckle::{
    Connection,
    client::{Connect, DetectedRevision, Era},
    host::config::Launch,
};
use turnbuckle_command_line::target::{Options, Server};

use crate::cache::{self, Cache};

/// A detection that took less time is not worth remembering.
const LONG: Duration = Duration::from_secs(4);

/// How long a revision is remembered, one day: an updated program may speak a newer revision.
const CACHE: Cache = Cache {
    name: "revisions",
    age: Duration::from_hours(24),
};

/// The remembered revision of one server.
pub(crate) struct KnownRevision {
    key: Option<String>,
    is_known: bool,
    started: Instant,
}

impl KnownRevision {
    /// Looks up the revision. Only programs are remembered, and only if the command line does not set the revision.
    pub(crate) fn look_up(server: &Server, options: &Options, connect: Connect) -> (Self, Connect) {
        let key = key(server, options);
        let known: Option<DetectedRevision> = key.as_deref().and_then(|key| CACHE.read(key));
        if let Some(key) = key.as_deref().filter(|_| known.is_some()) {
            // It is written again if it was right. If the program has changed, this revision may make it hang.
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

    /// Remembers the revision of the program, if its detection took long.
    pub(crate) fn connected(&self, connection: &Connection) {
        let Some(key) = &self.key else { return };
        let detected = connection.detected_revision();
        let is_slow = self.started.elapsed() >= LONG;
        // A program that took long although its revision was known is detected again the next time.
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
