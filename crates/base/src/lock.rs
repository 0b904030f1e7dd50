//! Locks without poisoning.
//!
//! A lock of the standard library returns an error after a thread panicked while holding it. Here, a panic
//! in a handler ends one call, not the server, and the data behind our locks is changed in steps that
//! leave it consistent. So these locks ignore poisoning, and callers need not handle it.

use std::{fmt, sync, time::Duration};

pub use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A [`std::sync::Mutex`] that ignores poisoning.
#[derive(Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates a lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Returns the value and drops the lock.
    pub fn into_inner(self) -> T {
        self.0
            .into_inner()
            .unwrap_or_else(sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Blocks until the lock is free, and takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(sync::PoisonError::into_inner)
    }

    /// Takes the lock if it is free; `None` otherwise.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(sync::TryLockError::WouldBlock) => None,
        }
    }

    /// The value. The exclusive borrow proves that the lock is not held.
    pub fn get_mut(&mut self) -> &mut T {
        self.0
            .get_mut()
            .unwrap_or_else(sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Waits until `changed` is notified or the time is up, then takes the lock again.
pub fn wait_within<'a, T>(
    changed: &sync::Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_timeout(guard, time);
    waited.unwrap_or_else(sync::PoisonError::into_inner).0
}

/// A [`std::sync::RwLock`] that ignores poisoning.
#[derive(Default)]
pub struct RwLock<T: ?Sized>(sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Creates a lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Blocks until there is no writer, then takes the lock for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(sync::PoisonError::into_inner)
    }

    /// Blocks until there is no reader or writer, then takes the lock for writing.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_panic_does_not_close_a_mutex() {
        let mut lock = Mutex::new(1);
        thread::scope(|scope| {
            let panicked = scope.spawn(|| {
                let mut value = lock.lock();
                *value = 2;
                panic!("while the lock is held");
            });
            assert!(panicked.join().is_err());
        });
        assert_eq!(*lock.lock(), 2);
        assert_eq!(lock.try_lock().map(|value| *value), Some(2));
        assert_eq!(*lock.get_mut(), 2);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn a_panic_does_not_close_a_lock_for_reading_and_writing() {
        let lock = RwLock::new(1);
        thread::scope(|scope| {
            let panicked = scope.spawn(|| {
                let _value = lock.write();
                panic!("while the lock is held");
            });
            assert!(panicked.join().is_err());
        });
        *lock.write() = 3;
        assert_eq!(*lock.read(), 3);
    }

    #[test]
    fn a_lock_that_is_held_is_not_taken_twice() {
        let lock = Mutex::new(());
        let _held = lock.lock();
        assert!(lock.try_lock().is_none());
    }
}
