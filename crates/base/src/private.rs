//! Files and folders that only their owner may read.

use std::{fs, io, path::Path};

/// Creates a file that only its owner may read. An existing file is emptied and made private.
///
/// # Errors
/// If the file cannot be written, or its permissions cannot be changed.
pub fn create(path: &Path) -> io::Result<fs::File> {
    let file = options().create(true).truncate(true).open(path)?;
    close(&file)?;
    Ok(file)
}

/// Creates a file that only its owner may read, if there is no file at the path.
///
/// # Errors
/// If a file exists there, or cannot be created.
pub fn create_new(path: &Path) -> io::Result<fs::File> {
    options().create_new(true).open(path)
}

/// Opens a file that is used as a lock, and creates it if it does not exist.
///
/// The file stays empty and should never be removed: if lock files came and went, two processes could hold
/// the same lock at once.
///
/// # Errors
/// If the file cannot be opened or created.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    options().read(true).create(true).truncate(false).open(path)
}

/// Creates a folder that only its owner can open, and its missing parents. An existing folder is not changed.
///
/// # Errors
/// If the folder cannot be created.
pub fn make_folder(path: &Path) -> io::Result<()> {
    folder_builder().recursive(true).create(path)
}

/// Options for writing a file that only its owner may read if it is created.
#[must_use]
pub fn options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A builder for folders that only their owner can open.
#[must_use]
pub fn folder_builder() -> fs::DirBuilder {
    // On other systems, the folders of a user inherit permissions that keep other users out.
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes an existing file private. Devices and pipes are not changed.
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
