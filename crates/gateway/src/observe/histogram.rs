//! A histogram of durations with few counters.

use std::time::Duration;

/// 48 steps, each longer by a factor of √2, from 31 µs to 6 minutes.
const STEPS: usize = 48;

/// The upper end of the first step, in microseconds.
const FIRST: f64 = 31.25;

/// Counts durations. Percentiles are exact to a factor of √2 in the worst case, and are
/// interpolated within a step.
#[derive(Clone, Debug)]
pub(super) struct Histogram([u32; STEPS]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; STEPS])
    }
}

impl Histogram {
    pub(super) fn add(&mut self, took: Duration) {
        let steps = (took.as_secs_f64() * 1e6 / FIRST).max(1.0).log2() * 2.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is at least 0, and too large a number is the last step"
        )]
        let step = (steps.ceil() as usize).min(STEPS - 1);
        self.0[step] = self.0[step].saturating_add(1);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(other);
        }
    }

    /// The percentile for this share, in milliseconds; `None` if nothing was counted.
    pub(super) fn percentile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        if all == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let wanted = all as f64 * share;
        let mut below = 0.0;
        for (step, count) in self.0.iter().enumerate() {
            let count = f64::from(*count);
            if count > 0.0 && below + count >= wanted {
                let part = ((wanted - below) / count).clamp(0.0, 1.0);
                let (low, high) = (bound(step) / 2_f64.sqrt(), bound(step));
                // Round to whole microseconds, because further digits are not significant.
                return Some((low + (high - low) * part).round() / 1e3);
            }
            below += count;
        }
        None
    }
}

/// The upper end of a step, in microseconds.
fn bound(step: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a step is below 48")]
    let steps = step as f64;
    FIRST * 2_f64.powf(steps / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_three_digits_at_the_most() {
        for microseconds in 1..3_000 {
            let mut times = Histogram::default();
            times.add(Duration::from_micros(microseconds * 7));
            let found = times.percentile(0.5).expect("a time").to_string();
            let digits = found.split('.').nth(1).unwrap_or_default();
            assert!(digits.len() <= 3, "{found}");
        }
    }

    #[test]
    fn percentiles_are_near() {
        let mut times = Histogram::default();
        assert_eq!(times.percentile(0.5), None);
        for milliseconds in 1..=100 {
            times.add(Duration::from_millis(milliseconds));
        }
        let near = |share: f64, wanted: f64| {
            let found = times.percentile(share).expect("there are some");
            assert!(
                found > wanted / 1.42 && found < wanted * 1.42,
                "{share}: {found}"
            );
        };
        near(0.5, 50.0);
        near(0.99, 99.0);
        near(0.01, 1.0);
        times.add(Duration::from_hours(9));
        assert!(times.percentile(1.0).expect("there are some") > 300_000.0);
    }
}
