//! Files and folders that only their owner may read.

use std::{fs, io, path::Path};

/// Creates a file for its owner alone. One that is there is emptied, and closed to others.
///
/// # Errors
/// If it cannot be written, or cannot be closed to others.
pub fn create(path: &Path) -> io::Result<fs::File> {
    let file = options().create(true).truncate(true).open(path)?;
    close(&file)?;
    Ok(file)
}

/// Creates a file for its owner alone, where none was.
///
/// # Errors
/// If one is there, or none can be made.
pub fn create_new(path: &Path) -> io::Result<fs::File> {
    options().create_new(true).open(path)
}

/// Makes a folder for its owner alone, with those above it. One that is there stays as it is.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// Makes a folder that only its owner can open, with a random name, inside another folder.
///
/// # Errors
/// If it cannot be made, or the system has no random bytes.
pub fn make_unique_folder(below: &Path, start: &str) -> io::Result<std::path::PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let path = below.join(format!("{start}-{:016x}", u64::from_ne_bytes(random)));
    // An existing folder of this name is not used.
    builder().create(&path)?;
    Ok(path)
}

/// Replaces a file as a whole, for its owner alone.
///
/// # Errors
/// If it cannot be written. The old one is there then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let written = create(&draft).and_then(|mut file| {
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(unix)]
fn options() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

#[cfg(not(unix))]
fn options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    options
}

#[cfg(unix)]
fn builder() -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn builder() -> fs::DirBuilder {
    // A user's own folders are closed to others by what they inherit.
    fs::DirBuilder::new()
}

/// Closes a file that was there before. Devices and pipes are left as they are.
#[cfg(unix)]
fn close(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = file.metadata()?;
    if about.is_file() && about.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close(_: &fs::File) -> io::Result<()> {
    Ok(())
}
