//! The edges of the code that an input reached.
//!
//! `scripts/fuzz` compiles every crate with LLVM's inline counters: one byte for each edge, incremented
//! when the edge is taken. LLVM reports where the counters are through a function that is defined here.

use std::{slice, sync::Mutex};

/// How many counters are checked together.
const WORD: usize = 32;

/// The address of each table of counters, and its length.
static COUNTERS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// LLVM calls it before `main`, once for each compiled module. Modules that were linked together share
/// one table and report it again.
///
/// # Safety
/// The arguments must be the two ends of a table of bytes that lives as long as the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    let table = (start as usize, end as usize - start as usize);
    if let Ok(mut counters) = COUNTERS.lock()
        && !counters.contains(&table)
    {
        counters.push(table);
    }
}

/// Called before each indirect call. The counter of the edge is enough, so this does nothing.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc_indir(_: usize) {}

/// The edges that any input has reached so far.
pub struct Coverage {
    tables: Vec<(usize, usize)>,
    /// For each counter, one bit for each range of counts that was seen.
    seen: Vec<u8>,
    reached: usize,
}

impl Coverage {
    pub fn new() -> Self {
        let tables = COUNTERS.lock().expect("no thread panics with it").clone();
        let total = tables.iter().map(|(_, length)| length).sum();
        Self {
            tables,
            seen: vec![0; total],
            reached: 0,
        }
    }

    /// How many edges the program has. 0 if it was compiled without counters.
    pub fn total(&self) -> usize {
        self.seen.len()
    }

    /// How many edges were reached.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Sets all counters to zero, before an input is run.
    pub fn clear(&self) {
        for &(start, length) in &self.tables {
            // SAFETY: LLVM gave this table of bytes, which is never freed. The only other writer is
            // the instrumented code, which runs on this thread.
            unsafe { slice::from_raw_parts_mut(start as *mut u8, length) }.fill(0);
        }
    }

    /// Adds the edges that were reached since [`clear`](Self::clear). Returns whether any of them is new.
    pub fn collect(&mut self) -> bool {
        let mut is_new = false;
        let mut offset = 0;
        for &(start, length) in &self.tables {
            // SAFETY: as above.
            let counters = unsafe { slice::from_raw_parts(start as *const u8, length) };
            for (at, chunk) in counters.chunks(WORD).enumerate() {
                // One input does not reach most edges of the program.
                if chunk == [0; WORD] {
                    continue;
                }
                for (within, &count) in chunk.iter().enumerate() {
                    let seen = &mut self.seen[offset + at * WORD + within];
                    let bit = range(count);
                    if bit & !*seen != 0 {
                        is_new = true;
                        self.reached += usize::from(*seen == 0);
                        *seen |= bit;
                    }
                }
            }
            offset += length;
        }
        is_new
    }
}

/// The range of a count: 41 runs of a loop instead of 40 are nothing new.
fn range(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128.. => 128,
    }
}
