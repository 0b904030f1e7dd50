//! Values that senders want to have dropped when their messages are written.

use std::fmt;

/// What is kept until messages are written: for instance what was paid for their memory.
#[derive(Default)]
pub struct Held(Vec<Box<dyn Send + Sync>>);

impl Held {
    /// Keeps one value.
    pub fn new(value: impl Send + Sync + 'static) -> Self {
        Self(vec![Box::new(value)])
    }

    /// Keeps one more.
    pub fn add(&mut self, value: impl Send + Sync + 'static) {
        self.0.push(Box::new(value));
    }

    /// Takes what another keeps.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Held").field(&self.0.len()).finish()
    }
}
