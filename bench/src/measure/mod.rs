//! What is measured beside time: instructions, allocations, and those who are merely connected.

pub(crate) mod callgrind;
pub(crate) mod crowd;
pub(crate) mod dhat;
pub(crate) mod valgrind;
