//! Measurements other than time: instructions, allocations, and clients that are only connected.

pub(crate) mod callgrind;
pub(crate) mod crowd;
pub(crate) mod dhat;
pub(crate) mod valgrind;
