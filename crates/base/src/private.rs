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

/// Opens a file that is used as a lock, and creates it if it is not there.
///
/// It stays empty, and should never be removed: two processes could hold a lock file that comes and
/// goes at the same time.
///
/// # Errors
/// If it cannot be opened or created.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    options().read(true).create(true).truncate(false).open(path)
}

/// Makes a folder for its owner alone, with those above it. One that is there stays as it is.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> io::Result<()> {
    folder_builder().recursive(true).create(path)
}

/// How to write a file that only its owner may read, if it is created.
#[must_use]
pub fn options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// How to make a folder that only its owner can open.
#[must_use]
pub fn folder_builder() -> fs::DirBuilder {
    // On other systems, folders of a user are closed to others by what they inherit.
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
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
