//! A library that is loaded before the system's, in tests. Names that end in `.slow` are never resolved, and
//! the time of day is off by the number of seconds in a file.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};

#[repr(C)]
pub struct TimeSpec {
    seconds: c_long,
    nanos: c_long,
}

type GetAddrInfo = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_void,
    *mut *mut c_void,
) -> c_int;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
}

/// `RTLD_NEXT`: the next library that has a function of this name.
const NEXT: *mut c_void = -1_isize as *mut c_void;

#[cfg(target_arch = "x86_64")]
const CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const CLOCK_GETTIME: c_long = 113;

/// The time of day.
const REALTIME: c_int = 0;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getaddrinfo(
    host: *const c_char,
    service: *const c_char,
    hints: *const c_void,
    found: *mut *mut c_void,
) -> c_int {
    let is_slow = !host.is_null() && unsafe { CStr::from_ptr(host) }.to_bytes().ends_with(b".slow");
    while is_slow {
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }
    let real = unsafe { dlsym(NEXT, c"getaddrinfo".as_ptr()) };
    let real: GetAddrInfo = unsafe { std::mem::transmute(real) };
    unsafe { real(host, service, hints, found) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    let done = unsafe { syscall(CLOCK_GETTIME, c_long::from(clock), time) };
    if done == 0 && clock == REALTIME {
        unsafe { (*time).seconds += offset() };
    }
    done as c_int
}

/// The offset in seconds, from the file that the environment names.
fn offset() -> c_long {
    let file = std::env::var_os("CLOCK_OFFSET_FILE");
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
