//! Numbers of requests over time.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::histogram::Histogram;

/// How many points a small chart shows.
const POINTS: usize = 60;

/// The period that figures cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Period {
    /// 15 minutes, in steps of 15 s.
    #[default]
    Quarter,
    /// An hour, in steps of a minute.
    Hour,
    /// A day, in steps of 24 minutes.
    Day,
}

impl Period {
    const ALL: [Self; 3] = [Self::Quarter, Self::Hour, Self::Day];

    /// Parses `15m`, `1h` or `24h`. Returns `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "15m" => Some(Self::Quarter),
            "1h" => Some(Self::Hour),
            "24h" => Some(Self::Day),
            _ => None,
        }
    }

    fn step(self) -> Duration {
        match self {
            Self::Quarter => Duration::from_secs(15),
            Self::Hour => Duration::from_mins(1),
            Self::Day => Duration::from_mins(24),
        }
    }
}

/// Requests over a period, in steps of equal length, oldest first. The last step has not ended yet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SeriesView {
    /// The length of a step, in seconds.
    pub step: u64,
    /// The number of requests that ended in each step.
    pub requests: Vec<u32>,
    /// The median duration in each step, in milliseconds.
    pub p50: Vec<Option<f64>>,
    /// The 99th percentile in each step, in milliseconds.
    pub p99: Vec<Option<f64>>,
    /// The median duration in the whole period, in milliseconds.
    pub all_p50: Option<f64>,
    /// The 99th percentile in the whole period, in milliseconds.
    pub all_p99: Option<f64>,
    /// Requests that were denied in the period.
    pub denied: u32,
}

#[derive(Debug)]
pub(super) struct Series {
    began: Instant,
    rings: [Ring; 3],
}

#[derive(Debug, Default)]
struct Ring {
    /// The number of the newest step, counted from the beginning.
    newest: u64,
    points: Vec<Point>,
}

#[derive(Clone, Debug, Default)]
struct Point {
    requests: u32,
    denied: u32,
    times: Histogram,
}

impl Series {
    pub(super) fn new(began: Instant) -> Self {
        Self {
            began,
            rings: Default::default(),
        }
    }

    pub(super) fn request(&mut self, now: Instant, took: Duration) {
        self.each(now, |point| {
            point.requests += 1;
            point.times.add(took);
        });
    }

    pub(super) fn denied(&mut self, now: Instant) {
        self.each(now, |point| point.denied += 1);
    }

    fn each(&mut self, now: Instant, change: impl Fn(&mut Point)) {
        let since = now.saturating_duration_since(self.began);
        for (ring, period) in self.rings.iter_mut().zip(Period::ALL) {
            change(ring.at(step_at(since, period)));
        }
    }

    pub(super) fn view(&mut self, period: Period, now: Instant) -> SeriesView {
        let since = now.saturating_duration_since(self.began);
        let index = Period::ALL.iter().position(|other| *other == period);
        let ring = &mut self.rings[index.unwrap_or_default()];
        ring.at(step_at(since, period));
        let mut all = Histogram::default();
        for point in &ring.points {
            all.merge(&point.times);
        }
        let newest = usize::try_from(ring.newest).unwrap_or(usize::MAX);
        // There are no steps before the beginning.
        let first = (newest + 1).saturating_sub(POINTS);
        let points: Vec<&Point> = (first..=newest)
            .map(|step| &ring.points[step % POINTS])
            .collect();
        let percentile = |share: f64| {
            let each = points.iter().map(|point| point.times.percentile(share));
            each.collect()
        };
        SeriesView {
            step: period.step().as_secs(),
            requests: points.iter().map(|point| point.requests).collect(),
            p50: percentile(0.5),
            p99: percentile(0.99),
            all_p50: all.percentile(0.5),
            all_p99: all.percentile(0.99),
            denied: points.iter().map(|point| point.denied).sum(),
        }
    }
}

fn step_at(since: Duration, period: Period) -> u64 {
    since.as_secs() / period.step().as_secs()
}

impl Ring {
    /// Returns the point of a step. Steps that passed since the newest one are empty.
    fn at(&mut self, step: u64) -> &mut Point {
        if self.points.is_empty() {
            self.points = vec![Point::default(); POINTS];
            self.newest = step;
        }
        let index = |step: u64| usize::try_from(step % POINTS as u64).unwrap_or_default();
        if step > self.newest {
            let passed = (step - self.newest).min(POINTS as u64);
            for missed in step - passed + 1..=step {
                self.points[index(missed)] = Point::default();
            }
            self.newest = step;
        }
        let newest = self.newest;
        &mut self.points[index(newest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_steps_are_forgotten() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut series = Series::new(start);
        series.request(at(1), Duration::from_millis(2));
        series.denied(at(16));
        series.request(at(16), Duration::from_millis(2));
        let view = series.view(Period::Quarter, at(31));
        assert_eq!(view.requests, [1, 1, 0]);
        assert_eq!(view.denied, 1);
        assert!(view.all_p50.is_some_and(|ms| ms > 1.0 && ms < 3.0));
        let view = series.view(Period::Quarter, at(16 * 60));
        assert_eq!(view.requests.iter().sum::<u32>(), 0);
        assert_eq!(view.requests.len(), POINTS);
        assert_eq!(series.view(Period::Hour, at(16 * 60)).requests[0], 2);
        assert_eq!(series.view(Period::Day, at(16 * 60)).requests, [2]);
    }
}
