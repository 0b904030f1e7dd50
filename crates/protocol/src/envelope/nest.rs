//! The nesting at a position in JSON: its depth, and the open arrays and objects.

/// A JSON container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nested {
    Object,
    Array,
}

/// The open objects and arrays, one bit each. Levels beyond the innermost 64 are stored in words.
#[derive(Default)]
pub(super) struct Nest {
    depth: usize,
    /// The innermost levels, the last one in the lowest bit: 1 for an object.
    levels: u64,
    outer: Vec<u64>,
}

impl Nest {
    const LEVELS: usize = u64::BITS as usize;

    pub(super) fn push(&mut self, kind: Nested) {
        if self.depth > 0 && self.depth.is_multiple_of(Self::LEVELS) {
            self.outer.push(self.levels);
        }
        self.levels = self.levels << 1 | u64::from(kind == Nested::Object);
        self.depth += 1;
    }

    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.levels >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(Self::LEVELS) {
            self.levels = self.outer.pop().unwrap_or_default();
        }
    }

    pub(super) fn last(&self) -> Option<Nested> {
        match (self.depth, self.levels & 1) {
            (0, _) => None,
            (_, 0) => Some(Nested::Array),
            _ => Some(Nested::Object),
        }
    }
}
