//! Reserves standard input and output for the protocol.

use std::fs::File;
use std::io;

/// Standard input and output while the protocol uses them; restored on drop.
///
/// On Unix everything else in the process, and every child it starts, meanwhile reads an empty file and
/// prints to standard error, so that neither a forgotten `println!` nor a C library nor a child can
/// corrupt the protocol or consume its input. On other systems nothing is redirected.
#[derive(Debug)]
pub(super) struct Claim {
    input: File,
    output: File,
}

impl Claim {
    /// Returns private handles to the reserved streams.
    pub(super) fn files(&self) -> io::Result<(File, File)> {
        Ok((self.input.try_clone()?, self.output.try_clone()?))
    }
}

#[cfg(unix)]
mod redirect {
    use std::fs::File;
    use std::io::{self, Write, stderr, stdin, stdout};
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdin, dup2_stdout};

    use super::Claim;

    /// The first descriptor after the three standard ones.
    const FIRST_PRIVATE: i32 = 3;

    impl Claim {
        pub(in super::super) fn take() -> io::Result<Self> {
            let nothing = File::open("/dev/null")?;
            let claim = Self {
                input: private(stdin())?.into(),
                output: private(stdout())?.into(),
            };
            // From here on, dropping the claim undoes the redirections so far.
            dup2_stdin(&nothing)?;
            dup2_stdout(stderr())?;
            Ok(claim)
        }
    }

    impl Drop for Claim {
        fn drop(&mut self) {
            // A partial line that was printed by mistake must not appear on the real output later.
            let _ = stdout().flush();
            let _ = dup2_stdin(&self.input);
            let _ = dup2_stdout(&self.output);
        }
    }

    fn private(standard: impl AsFd) -> io::Result<OwnedFd> {
        Ok(fcntl_dupfd_cloexec(standard, FIRST_PRIVATE)?)
    }
}

#[cfg(windows)]
mod redirect {
    use std::fs::File;
    use std::io::{self, stdin, stdout};
    use std::os::windows::io::AsHandle;

    use super::Claim;

    impl Claim {
        pub(in super::super) fn take() -> io::Result<Self> {
            let input = File::from(stdin().as_handle().try_clone_to_owned()?);
            let output = File::from(stdout().as_handle().try_clone_to_owned()?);
            Ok(Self { input, output })
        }
    }
}
