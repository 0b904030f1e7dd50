//! The time of day, which a simulation can replace on its own thread.
//!
//! Deadlines use the runtime's clock, which tests can pause. Times that are written down, such as when
//! a task expires, need a date; code that writes them asks here instead of [`SystemTime::now`].

use std::{
    cell::Cell,
    time::{Duration, SystemTime},
};

thread_local! {
    /// The function that tells the time on this thread, if the system's clock is replaced.
    static REPLACED: Cell<Option<fn() -> Duration>> = const { Cell::new(None) };
}

/// The time of day on this thread.
pub fn now() -> SystemTime {
    match REPLACED.get() {
        None => SystemTime::now(),
        Some(since_1970) => SystemTime::UNIX_EPOCH + since_1970(),
    }
}

/// Restores the system's clock when it is dropped.
#[must_use = "the clock is replaced until this is dropped"]
#[derive(Debug)]
pub struct Replaced(());

impl Drop for Replaced {
    fn drop(&mut self) {
        REPLACED.set(None);
    }
}

/// Replaces the clock of this thread with a function that returns the time since 1970. For simulations.
pub fn replace(since_1970: fn() -> Duration) -> Replaced {
    REPLACED.set(Some(since_1970));
    Replaced(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_clock_is_that_of_its_thread_until_it_is_put_back() {
        let before = SystemTime::now();
        let replaced = replace(|| Duration::from_secs(7));
        assert_eq!(now(), SystemTime::UNIX_EPOCH + Duration::from_secs(7));
        let elsewhere = std::thread::spawn(now).join();
        assert!(elsewhere.is_ok_and(|time| time >= before));
        drop(replaced);
        assert!(now() >= before);
    }
}
