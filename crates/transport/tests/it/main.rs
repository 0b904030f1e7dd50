//! The transports from outside: bytes in, bytes out, processes gone.

mod back_pressure;
mod batching;
#[cfg(target_os = "linux")]
mod child_end;
#[cfg(unix)]
mod child_io;
#[cfg(target_os = "linux")]
mod child_orphans;
#[cfg(unix)]
mod child_spawn;
mod closing;
#[cfg(feature = "http")]
mod http;
mod lines;
#[cfg(target_os = "linux")]
mod process_table;
mod recorder;
#[cfg(unix)]
mod stdio_files;
#[cfg(unix)]
mod stdio_process;
