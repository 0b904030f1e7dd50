//! Values of senders that are dropped when their messages were written.

use std::fmt;

/// Values that are kept until messages are written, such as their share of a memory budget.
#[derive(Default)]
pub struct Held(Vec<Box<dyn Send + Sync>>);

impl Held {
    /// Creates a holder with one value.
    pub fn new(value: impl Send + Sync + 'static) -> Self {
        Self(vec![Box::new(value)])
    }

    /// Adds a value.
    pub fn add(&mut self, value: impl Send + Sync + 'static) {
        self.0.push(Box::new(value));
    }

    /// Moves the values of another holder to this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Held").field(&self.0.len()).finish()
    }
}
