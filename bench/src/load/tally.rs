//! The result of a run of requests.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::call::FIRST_ID;
use crate::{
    Result,
    process::{Ran, megabytes},
};

/// One in this many answers is parsed and checked; of the others only the status and the length are checked.
pub(crate) const CHECKED: u64 = 500;

/// By how many bytes answers to the same call may differ: ids, dates and the like.
pub(crate) const SLACK: usize = 64;

/// How long a run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// This many requests in total, for counting instructions.
    Requests(u64),
    /// This long, after a warm-up that is not counted.
    Elapsed { warm: Duration, measured: Duration },
}

impl Until {
    /// A deadline for the whole run, much longer than it should take.
    pub(crate) fn deadline(self) -> Duration {
        match self {
            Self::Requests(_) => Duration::from_mins(8),
            Self::Elapsed { warm, measured } => warm + measured + Duration::from_mins(1),
        }
    }
}

/// The result of one run of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    /// Microseconds of the server's CPU time for a request.
    pub(crate) cpu_us: f64,
    /// The part of its core that the server used.
    pub(crate) busy: f64,
    /// The part of its core that the generator used.
    pub(crate) generator_busy: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// The highest memory of the server since its start, in megabytes.
    pub(crate) peak_mb: f64,
}

/// The state that the clients of one run share.
pub(crate) struct Tally {
    until: Until,
    handed_out: Cell<u64>,
    is_recording: Cell<bool>,
    is_over: Cell<bool>,
    microseconds: RefCell<Vec<f32>>,
}

impl Tally {
    pub(crate) fn new(until: Until) -> Self {
        Self {
            until,
            handed_out: Cell::new(0),
            is_recording: Cell::new(matches!(until, Until::Requests(_))),
            is_over: Cell::new(false),
            microseconds: RefCell::default(),
        }
    }

    /// The id of the next request; `None` at the end of the run.
    pub(crate) fn next(&self) -> Option<u64> {
        let count = self.handed_out.get();
        let is_enough = match self.until {
            Until::Requests(all) => count >= all,
            Until::Elapsed { .. } => self.is_over.get(),
        };
        self.handed_out.set(count + 1);
        (!is_enough).then_some(FIRST_ID + count)
    }

    pub(crate) fn record(&self, took: Duration) {
        if self.is_recording.get() {
            self.microseconds
                .borrow_mut()
                .push(took.as_secs_f32() * 1e6);
        }
    }

    pub(crate) fn begin(&self, server: u32) -> Span {
        self.is_recording.set(true);
        Span {
            server,
            began: Instant::now(),
            server_ran: Ran::of(server),
            own_ran: Ran::of(std::process::id()),
        }
    }

    pub(crate) fn finish(&self, span: &Span) -> Result<Measured> {
        self.is_recording.set(false);
        self.is_over.set(true);
        let seconds = span.began.elapsed().as_secs_f64();
        let ran = Ran::of(span.server).since(&span.server_ran);
        let own = Ran::of(std::process::id()).since(&span.own_ran);
        let mut sorted = self.microseconds.take();
        if sorted.is_empty() {
            return Err("no request was answered in time".into());
        }
        sorted.sort_unstable_by(f32::total_cmp);
        let part = |hundredths: usize| f64::from(sorted[sorted.len() * hundredths / 100]);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
        let count = sorted.len() as f64;
        Ok(Measured {
            requests: sorted.len(),
            per_second: count / seconds,
            cpu_us: ran * 1e6 / count,
            busy: ran / seconds,
            generator_busy: own / seconds,
            p50_us: part(50),
            p99_us: part(99),
            peak_mb: megabytes(span.server, "VmHWM"),
        })
    }
}

/// The part of a run that is measured.
pub(crate) struct Span {
    server: u32,
    began: Instant,
    server_ran: Ran,
    own_ran: Ran,
}
