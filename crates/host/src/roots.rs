//! Roots whose folders exist.

use std::path::PathBuf;

use turnbuckle_protocol::Root;

/// Whether the folder of a root exists. A root that is not a file of this machine is treated as existing.
pub(crate) fn is_present(root: &Root) -> bool {
    path(&root.uri).is_none_or(|path| path.exists())
}

/// The path of a `file:` URI on this machine.
fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri
        .strip_prefix("file://")
        .or_else(|| uri.strip_prefix("FILE://"))?;
    let (host, path) = rest.split_at(rest.find('/')?);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let bytes = decoded(path.as_bytes())?;
    let text = String::from_utf8(bytes).ok()?;
    // `file:///C:/…`
    let is_drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { &text[1..] } else { &text }))
}

fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, others @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(others.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_shown_while_its_folder_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a b");
        std::fs::create_dir(&inside).unwrap();
        let uri = format!("file://{}", inside.display()).replace(' ', "%20");
        let (here, there) = (Root::new(uri), Root::new("file://other-machine/share"));
        assert!(is_present(&here) && is_present(&there));
        std::fs::remove_dir(&inside).unwrap();
        assert!(!is_present(&here) && is_present(&there));
    }
}
