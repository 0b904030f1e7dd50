//! The file of a bundle: a zip archive with the manifest and the program.

use std::{
    fs::File,
    io::{self, Seek, Write},
    path::Path,
};

use serde_json::Value;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Writes the archive. Its bytes depend only on its content: times are left out.
pub(super) fn write(
    to: impl Write + Seek,
    manifest: &Value,
    program: &Path,
    path: &str,
) -> io::Result<()> {
    let mut archive = ZipWriter::new(to);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    archive.start_file("manifest.json", options.unix_permissions(0o644))?;
    serde_json::to_writer_pretty(&mut archive, manifest)?;
    // An application that unpacks the bundle keeps the permission to run the program.
    let of_program = options.unix_permissions(0o755).large_file(true);
    archive.start_file(path, of_program)?;
    io::copy(&mut File::open(program)?, &mut archive)?;
    archive.finish()?;
    Ok(())
}
