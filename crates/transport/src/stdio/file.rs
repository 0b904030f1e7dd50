//! Blocking reads and writes on a pipe, a socket or a terminal.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use turnbuckle_base::lock::Mutex;

/// Waits for input. Zero bytes mean the end.
pub(super) fn read(mut file: &File, space: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(space) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A parent process may have made the shared pipe or terminal non-blocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait::readable(file)?,
            other => return other,
        }
    }
}

/// The output. Two threads write to it, never at the same time. It is closed when the connection ends.
#[derive(Debug)]
pub(super) struct Output {
    file: Mutex<Option<Arc<File>>>,
    /// Cleared if the kernel or the kind of file does not support writes that never block.
    can_try: AtomicBool,
}

impl Output {
    pub(super) fn new(file: File) -> Self {
        Self {
            file: Mutex::new(Some(Arc::new(file))),
            can_try: AtomicBool::new(attempt::IS_SUPPORTED),
        }
    }

    /// Closes the file, after the current write.
    pub(super) fn close(&self) {
        self.file.lock().take();
    }

    /// Writes some of `bytes`, waiting until the peer accepts them.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file()?;
        loop {
            match (&*file).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait::writable(&file)?,
                other => return other,
            }
        }
    }

    /// Writes as much of `bytes` as the peer can accept now, possibly nothing. Waits like
    /// [`write`](Self::write) if the system does not support this.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.can_try.load(Ordering::Relaxed) {
            match attempt::write(&*self.file()?, bytes) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
                // Not supported by this kernel, this file or this sandbox. If it is another error, the
                // plain write below will fail as well.
                Err(_) => self.can_try.store(false, Ordering::Relaxed),
            }
        }
        self.write(bytes)
    }

    fn file(&self) -> io::Result<Arc<File>> {
        self.file
            .lock()
            .clone()
            .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

/// A write that never blocks, without making the file non-blocking, which would affect every process
/// that shares it.
#[cfg(all(target_os = "linux", not(target_env = "uclibc")))]
mod attempt {
    use std::fs::File;
    use std::io::{self, IoSlice};

    use rustix::io::{ReadWriteFlags, pwritev2};

    pub(super) const IS_SUPPORTED: bool = true;

    /// The offset that means the current position of the file, as in a plain write.
    const CURRENT: u64 = u64::MAX;

    pub(super) fn write(file: &File, bytes: &[u8]) -> io::Result<usize> {
        let slices = [IoSlice::new(bytes)];
        loop {
            match pwritev2(file, &slices, CURRENT, ReadWriteFlags::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(target_env = "uclibc"))))]
mod attempt {
    use std::fs::File;
    use std::io;

    pub(super) const IS_SUPPORTED: bool = false;

    pub(super) fn write(_: &File, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(unix)]
mod wait {
    use std::fs::File;
    use std::io;

    use rustix::event::{PollFd, PollFlags, poll};

    pub(super) fn readable(file: &File) -> io::Result<()> {
        until(file, PollFlags::IN)
    }

    pub(super) fn writable(file: &File) -> io::Result<()> {
        until(file, PollFlags::OUT)
    }

    fn until(file: &File, state: PollFlags) -> io::Result<()> {
        match poll(&mut [PollFd::new(file, state)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
mod wait {
    use std::fs::File;
    use std::io;

    pub(super) fn readable(_: &File) -> io::Result<()> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    pub(super) fn writable(_: &File) -> io::Result<()> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}
