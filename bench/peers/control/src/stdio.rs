//! A blocking loop: one read, an answer for each complete line, one write.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

use crate::answer::{Kind, answer};

/// How many bytes are read at once: the capacity of a pipe.
const READ: usize = 64 * 1024;

pub(crate) fn serve() -> io::Result<()> {
    let mut input = io::stdin().lock();
    // The standard library's own stdout searches the written bytes for line breaks.
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = vec![0; READ];
    let (mut filled, mut out) = (0, Vec::new());
    loop {
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
        let read = input.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        let (mut start, mut seen) = (0, filled);
        filled += read;
        while let Some(at) = memchr::memchr(b'\n', &buffer[seen..filled]) {
            let end = seen + at;
            if !matches!(answer(&buffer[start..end], &mut out)?, Kind::Told) {
                out.push(b'\n');
            }
            start = end + 1;
            seen = start;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        output.write_all(&out)?;
        out.clear();
    }
}
