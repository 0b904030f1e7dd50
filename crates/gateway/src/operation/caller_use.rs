//! The current usage of callers: their rates and the number of their running calls.

use std::{collections::HashMap, sync::Arc};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

use super::policy::{Policy, Rate};

/// How many callers are remembered. A caller that was forgotten starts from zero.
const MAX_CALLERS: usize = 10_000;

/// The current usage of each caller.
#[derive(Debug, Default)]
pub(super) struct CallerUses(Mutex<HashMap<Option<String>, CallerUse>>);

#[derive(Debug)]
struct CallerUse {
    running: usize,
    /// How many calls may be made now.
    tokens: f64,
    filled: Instant,
}

/// The limit that a call exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    Often,
    AtOnce,
}

/// A running call. It is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    uses: Arc<CallerUses>,
    caller: Option<String>,
}

impl CallerUses {
    /// Counts a call, unless it exceeds a limit.
    pub(super) fn enter(
        self: &Arc<Self>,
        policy: &Policy,
        caller: Option<&str>,
        now: Instant,
    ) -> Result<Option<Running>, TooMuch> {
        let limits = (policy.rate(caller), policy.concurrency(caller));
        if limits == (None, None) {
            return Ok(None);
        }
        let caller = caller.map(str::to_owned);
        self.count(limits, caller.clone(), now, 1)?;
        Ok(Some(Running {
            uses: Arc::clone(self),
            caller,
        }))
    }

    /// Counts a request that continues a running call, unless it exceeds the rate.
    pub(super) fn enter_again(
        &self,
        policy: &Policy,
        caller: Option<&str>,
        now: Instant,
    ) -> Result<(), TooMuch> {
        match policy.rate(caller) {
            None => Ok(()),
            rate => self.count((rate, None), caller.map(str::to_owned), now, 0),
        }
    }

    /// Counts a request within a rate and a concurrency, and this many calls that it begins.
    fn count(
        &self,
        (rate, concurrency): (Option<Rate>, Option<usize>),
        caller: Option<String>,
        now: Instant,
        begun: usize,
    ) -> Result<(), TooMuch> {
        let mut uses = self.0.lock();
        if uses.len() >= MAX_CALLERS && !uses.contains_key(&caller) {
            uses.retain(|_, other| other.running > 0);
        }
        let used = uses.entry(caller).or_insert_with(|| CallerUse {
            running: 0,
            tokens: rate.map_or(0.0, |rate| f64::from(rate.count)),
            filled: now,
        });
        if concurrency.is_some_and(|limit| used.running >= limit) {
            return Err(TooMuch::AtOnce);
        }
        if let Some(rate) = rate {
            used.take(rate, now)?;
        }
        used.running += begun;
        Ok(())
    }
}

impl CallerUse {
    /// Takes a token from a bucket that is filled at the rate. The bucket holds the tokens of one
    /// interval.
    fn take(&mut self, rate: Rate, now: Instant) -> Result<(), TooMuch> {
        let full = f64::from(rate.count);
        let waited = now.saturating_duration_since(self.filled);
        let came = full * waited.as_secs_f64() / rate.within.as_secs_f64();
        self.tokens = (self.tokens + came).min(full);
        self.filled = now;
        if self.tokens < 1.0 {
            return Err(TooMuch::Often);
        }
        self.tokens -= 1.0;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(used) = self.uses.0.lock().get_mut(&self.caller) {
            used.running = used.running.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::operation::PolicyRule;

    #[test]
    fn calls_are_limited_by_rate_and_at_once() {
        let policy = Policy::new().rule(
            PolicyRule::for_all()
                .rate(Rate::per_minute(3))
                .concurrency(2),
        );
        let uses = Arc::new(CallerUses::default());
        let start = Instant::now();
        let first = uses.enter(&policy, Some("a"), start).expect("one");
        let _second = uses.enter(&policy, Some("a"), start).expect("two");
        assert_eq!(
            uses.enter(&policy, Some("a"), start).expect_err("three"),
            TooMuch::AtOnce
        );
        drop(first);
        let third = uses.enter(&policy, Some("a"), start).expect("again two");
        drop(third);
        assert_eq!(
            uses.enter(&policy, Some("a"), start)
                .expect_err("four in a minute"),
            TooMuch::Often
        );
        assert!(uses.enter(&policy, Some("b"), start).is_ok());
        let later = start + Duration::from_secs(21);
        assert!(uses.enter(&policy, Some("a"), later).is_ok());
    }
}
