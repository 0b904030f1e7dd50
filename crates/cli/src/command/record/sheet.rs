//! The recording of a session.

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

    /// Records a message without its secrets. If the file can no longer be written, the session continues;
    /// [`Sheet::all_written`] reports the error at its end.
    pub(super) fn write(&self, direction: &'static str, message: &[u8]) {
        let line = wire::line(self.started, direction, message, &self.secrets);
        self.recorder.write(&line);
    }

    /// Fails if a message was not recorded.
    pub(super) fn all_written(&self) -> Outcome {
        self.recorder.all_written()
    }
}
