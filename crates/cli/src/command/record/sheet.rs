//! What is written down.

use std::{path::Path, sync::Arc, time::Instant};

use turnbuckle_command_line::{
    failure::Outcome,
    secret::Secrets,
    wire::{self, Recorder},
};

/// The file of a recording. Clones write to the same.
#[derive(Clone)]
pub(super) struct Sheet {
    recorder: Recorder,
    started: Instant,
    secrets: Arc<Secrets>,
}

impl Sheet {
    pub(super) fn create(path: &Path, secrets: Secrets) -> Outcome<Self> {
        Ok(Self {
            recorder: Recorder::create(path)?,
            started: Instant::now(),
            secrets: Arc::new(secrets),
        })
    }

    /// Writes a message down, without its secrets. A file that cannot be written any more ends
    /// nothing, for the session matters more: [`Sheet::all_written`] tells at its end.
    pub(super) fn write(&self, direction: &'static str, message: &[u8]) {
        let line = wire::line(self.started, direction, message, &self.secrets);
        self.recorder.write(&line);
    }

    /// Fails if a message was not written down.
    pub(super) fn all_written(&self) -> Outcome {
        self.recorder.all_written()
    }
}
