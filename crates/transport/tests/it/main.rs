//! The transports from outside: input, output, and the end of processes.

mod back_pressure;
mod batching;
#[cfg(all(feature = "child", target_os = "linux"))]
mod child_end;
#[cfg(all(feature = "child", unix))]
mod child_io;
#[cfg(all(feature = "child", target_os = "linux"))]
mod child_orphans;
#[cfg(all(feature = "child", unix))]
mod child_spawn;
mod closing;
#[cfg(feature = "http")]
mod http;
mod lines;
#[cfg(all(feature = "child", target_os = "linux"))]
mod process_table;
mod recorder;
#[cfg(unix)]
mod stdio_files;
#[cfg(all(feature = "child", unix))]
mod stdio_process;
