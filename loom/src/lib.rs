//! Runs concurrent code in every possible order of its threads, of which other tests only see some.
//!
//! The source files are those of the crates, compiled with the atomics and locks of `loom` instead of the standard
//! library's.
#![cfg(test)]

mod sync {
    //! What the files import from the module of this name.

    pub(super) use loom::sync::atomic::AtomicUsize;

    pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(super) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().expect("no thread panics")
        }
    }
}

#[path = "../../crates/server/src/engine/usage_counter.rs"]
mod usage_counter;

use std::future::poll_fn;

use loom::{future::block_on, sync::Arc, thread};
use usage_counter::UsageCounter;

const LIMIT: usize = 5;

/// Runs a test in every order in which threads are interrupted at most this often. Without a limit, three threads
/// take hours; bugs that need more interruptions are rare.
const INTERRUPTIONS: usize = 3;

fn in_every_order(test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(INTERRUPTIONS);
    model.check(test);
}

/// Waits until this amount could be reserved. If no thread wakes it, the test fails as a deadlock.
fn wait_for(usage: &UsageCounter, amount: usize) {
    block_on(poll_fn(|context| {
        usage.poll(context, || usage.used() + amount <= LIMIT)
    }));
}

#[test]
fn one_who_waits_is_woken_when_something_is_given_back() {
    in_every_order(|| {
        let usage = Arc::new(UsageCounter::new());
        usage.take(4, LIMIT).expect("4 is below the limit");
        let giver = {
            let usage = Arc::clone(&usage);
            thread::spawn(move || {
                usage.give_back(4);
                usage.wake_waiting();
            })
        };
        wait_for(&usage, 3);
        giver.join().unwrap();
        assert_eq!(usage.used(), 0);
    });
}

#[test]
fn two_who_wait_are_both_woken() {
    in_every_order(|| {
        let usage = Arc::new(UsageCounter::new());
        usage.take(4, LIMIT).expect("4 is below the limit");
        let other = {
            let usage = Arc::clone(&usage);
            thread::spawn(move || wait_for(&usage, 2))
        };
        let giver = {
            let usage = Arc::clone(&usage);
            thread::spawn(move || {
                usage.give_back(4);
                usage.wake_waiting();
            })
        };
        wait_for(&usage, 3);
        other.join().unwrap();
        giver.join().unwrap();
    });
}

/// Bytes that are refused are part of the sum for a moment, in which there seems to be no room.
#[test]
fn one_who_saw_the_bytes_of_a_refused_message_is_woken() {
    in_every_order(|| {
        let usage = Arc::new(UsageCounter::new());
        let refused = {
            let usage = Arc::clone(&usage);
            thread::spawn(move || {
                assert_eq!(usage.take(8, LIMIT), None);
                usage.wake_waiting();
            })
        };
        wait_for(&usage, 3);
        refused.join().unwrap();
        assert_eq!(usage.used(), 0);
    });
}

#[test]
fn no_more_is_granted_than_the_limit() {
    in_every_order(|| {
        let usage = Arc::new(UsageCounter::new());
        let other = {
            let usage = Arc::clone(&usage);
            thread::spawn(move || usage.take(3, LIMIT).is_some())
        };
        let one = usage.take(3, LIMIT).is_some();
        let both = one && other.join().unwrap();
        assert!(!both, "6 were granted of {LIMIT}");
    });
}
