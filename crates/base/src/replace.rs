//! Files that are replaced as a whole: a reader sees the old file or the new one, and a full disk or a crash leaves
//! the old one in place.

use std::{
    fs,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io,
    path::{Path, PathBuf},
};

use crate::private;

/// The ending of the names of unfinished files. A crash can leave one behind.
pub const DRAFT_ENDING: &str = "draft";

/// Replaces a file with one that only its owner may read.
///
/// # Errors
/// If the new file cannot be written. The old file is then unchanged.
pub fn private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, private::create_new, |file| {
        io::Write::write_all(file, bytes)
    })
}

/// Replaces a file that others may read as well. It keeps the permissions of the old file. If the path is a link,
/// the file that the link points to is replaced.
///
/// # Errors
/// If the new file cannot be written. The old file is then unchanged.
pub fn shared(path: &Path, write: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let permissions = fs::metadata(&path).ok().map(|about| about.permissions());
    let create = |draft: &Path| {
        // Created private, because the file that it replaces may be private.
        let Some(permissions) = permissions else {
            return fs::File::create_new(draft);
        };
        let file = private::create_new(draft)?;
        file.set_permissions(permissions)?;
        Ok(file)
    };
    replace(&path, create, write)
}

fn replace(
    path: &Path,
    create: impl FnOnce(&Path) -> io::Result<fs::File>,
    write: impl FnOnce(&mut fs::File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = draft(path);
    let written = create(&draft).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if let Err(error) = written {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    sync_folder(path)
}

/// A file name beside `path` that no other process or call uses, not even one that crashed.
fn draft(path: &Path) -> PathBuf {
    let random = RandomState::new().build_hasher().finish();
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{random:016x}.{DRAFT_ENDING}"));
    name.into()
}

/// Syncs the folder, without which the new name may not be on the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    // A folder cannot be opened as a file.
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("replace-{name}-{}", std::process::id()));
        private::make_folder(&folder).unwrap();
        folder
    }

    fn drafts(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_draft() {
        let folder = scratch("failed");
        let path = folder.join("file");
        private(&path, b"old").unwrap();
        let failed = shared(&path, |_| Err(io::Error::other("full")));
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(drafts(&folder), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_shared_file_keeps_its_permissions_and_the_links_that_lead_to_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = scratch("shared");
        let (path, link) = (folder.join("file"), folder.join("link"));
        private(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        shared(&link, |file| io::Write::write_all(file, b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (fs::read(&path).unwrap(), mode(&path)),
            (b"new".to_vec(), 0o640)
        );
        private(&path, b"secret").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::remove_dir_all(folder).unwrap();
    }
}
