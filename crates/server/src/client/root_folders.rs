//! Whether a path is inside of a client's roots.

use std::path::{Component, Path, PathBuf};

use turnbuckle_protocol::Root;

/// The folders of a client's roots, with which paths can be checked.
///
/// roots: servers SHOULD respect root boundaries, and validate all paths against them.
///
/// ```
/// use turnbuckle_protocol::Root;
/// use turnbuckle_server::RootFolders;
///
/// let folders = RootFolders::new(&[Root::new("file:///tmp")]);
/// assert!(folders.contains("/tmp/notes.txt"));
/// assert!(!folders.contains("/tmp/../etc/passwd"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootFolders(Vec<PathBuf>);

impl RootFolders {
    /// Resolves the folders of these roots. A root that does not exist, or that is not a `file://`
    /// URI of this machine, is left out.
    pub fn new(roots: &[Root]) -> Self {
        let folders = roots.iter().filter_map(|root| {
            let path = path_of(&root.uri)?;
            path.canonicalize().ok()
        });
        Self(folders.collect())
    }

    /// Whether a path is inside one of the folders, after every `..` and every symbolic link in it
    /// has been resolved. For a path that does not exist yet, its parent folder counts. The file
    /// system may change after this check, so open the file immediately after it.
    pub fn contains(&self, path: impl AsRef<Path>) -> bool {
        real(path.as_ref()).is_some_and(|real| self.0.iter().any(|folder| real.starts_with(folder)))
    }
}

/// Resolves a path; `None` if that is not possible.
fn real(path: &Path) -> Option<PathBuf> {
    for there in path.ancestors() {
        let there = if there.as_os_str().is_empty() {
            Path::new(".")
        } else {
            there
        };
        let Ok(base) = there.canonicalize() else {
            continue;
        };
        let rest = path.strip_prefix(there).unwrap_or(path);
        if rest.as_os_str().is_empty() {
            return Some(base);
        }
        let is_plain = rest
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        // A dangling link is not allowed: writing to it would create a file elsewhere.
        let first = rest.components().next()?;
        let is_link = base.join(first).symlink_metadata().is_ok();
        return (is_plain && !is_link).then(|| base.join(rest));
    }
    None
}

/// The path of a `file://` URI of this machine; `None` for other URIs.
fn path_of(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !is_here {
        return None;
    }
    let decoded = decode(path)?;
    // On Windows a drive letter follows the first slash.
    let bytes = decoded.as_bytes();
    let is_drive = bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    let plain = if cfg!(windows) && is_drive {
        &decoded[1..]
    } else {
        &decoded
    };
    Some(PathBuf::from(plain))
}

/// Percent-decodes a path; `None` if the result is not UTF-8, or contains a NUL.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (!decoded.contains('\0')).then_some(decoded)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    // rule: O3
    #[test]
    fn no_path_fools_the_check() {
        let name = format!("turnbuckle roots {}", std::process::id());
        let base = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&base);
        let (inside, outside) = (base.join("in"), base.join("in-side"));
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), "").unwrap();
        symlink(&outside, inside.join("link")).unwrap();
        symlink(outside.join("nothing"), inside.join("dangling")).unwrap();
        symlink(inside.join("sub"), outside.join("back")).unwrap();
        let uri = format!("file://{}", inside.display()).replace(' ', "%20");
        let folders = RootFolders::new(&[
            Root::new(uri),
            Root::new("https://example.com/"),
            Root::new("file://elsewhere/"),
            Root::new("file:///%00"),
        ]);
        for good in [
            "",
            "sub",
            "sub/new.txt",
            "new/deep/er",
            "sub/../sub",
            "link/back/x",
        ] {
            assert!(folders.contains(inside.join(good)), "{good}");
        }
        for bad in [
            "..",
            "../in-side",
            "../in-side/secret",
            "sub/../../in-side/secret",
            "new/../../in-side/secret",
            "link",
            "link/secret",
            "link/new",
            "dangling",
            "dangling/x",
        ] {
            assert!(!folders.contains(inside.join(bad)), "{bad}");
        }
        assert!(!folders.contains("/"));
        assert!(!RootFolders::default().contains(&inside));
        fs::remove_dir_all(&base).unwrap();
    }
}
