//! What is written down.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Instant,
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    secret::Secrets,
    wire,
};

/// The file of a recording. Clones write to the same.
#[derive(Clone)]
pub(super) struct Sheet(Arc<Inner>);

struct Inner {
    file: Mutex<File>,
    started: Instant,
    secrets: Secrets,
}

impl Sheet {
    pub(super) fn create(path: &Path, secrets: Secrets) -> Outcome<Self> {
        let file = File::create(path).map_err(|error| {
            Failed::usage(format!("cannot write `{}`: {error}", path.display()))
        })?;
        Ok(Self(Arc::new(Inner {
            file: Mutex::new(file),
            started: Instant::now(),
            secrets,
        })))
    }

    /// Writes a message down, without its secrets.
    pub(super) fn write(&self, direction: &'static str, message: &[u8]) -> io::Result<()> {
        let line = wire::line(self.0.started, direction, message, &self.0.secrets);
        let mut file = self.0.file.lock();
        writeln!(file, "{line}")
    }
}
