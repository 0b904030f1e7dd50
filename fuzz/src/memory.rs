//! Counts the bytes that are allocated, for targets whose code must not allocate as much as a peer wants.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static HELD: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTED: Counted = Counted;

struct Counted;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller promises the same to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both places exist while the bytes are copied.
        add(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

fn add(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    HIGHEST.fetch_max(held, Relaxed);
}

/// Measures how many bytes are held at most at once.
pub struct Peak {
    before: usize,
}

impl Peak {
    /// Begins to measure. Only one peak is measured at a time.
    pub fn begin() -> Self {
        let before = HELD.load(Relaxed);
        HIGHEST.store(before, Relaxed);
        Self { before }
    }

    /// The most bytes that were held since, beside those that were held before.
    pub fn bytes(self) -> usize {
        HIGHEST.load(Relaxed).saturating_sub(self.before)
    }
}
