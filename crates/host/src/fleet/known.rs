//! The lists of a server from its last run, kept in a folder.
//!
//! They put a server that is started on demand into the catalog before it runs, and a server that
//! starts slowly into the catalog at once.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{
    Lists, Origin,
    kind::Kind,
    listing::{List, take_page},
};

/// The size limit of a file of lists, in bytes. Lists of real servers are smaller.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The lists in a file, each in the form of a page.
#[derive(Deserialize)]
struct KnownLists {
    tools: Box<RawValue>,
    prompts: Box<RawValue>,
    resources: Box<RawValue>,
    templates: Box<RawValue>,
}

/// The path of the file for a server; `None` if the server has no fingerprint to tell it from
/// others of the same name.
pub(crate) fn path(folder: &Path, origin: &Origin) -> Option<PathBuf> {
    let fingerprint = origin.fingerprint.as_ref()?;
    let mut digest = Sha256::new();
    digest.update(fingerprint);
    digest.update(origin.id.as_str());
    let mut name = String::new();
    for byte in &digest.finalize()[..16] {
        let _ = write!(name, "{byte:02x}");
    }
    Some(folder.join(format!("{name}.json")))
}

/// Reads the lists of a server. `None` if the file is missing, too large or malformed.
pub(crate) fn read(path: &Path) -> Option<Lists> {
    if fs::metadata(path).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let document: KnownLists = serde_json::from_str(&text).ok()?;
    Some(Lists {
        tools: list(document.tools)?,
        prompts: list(document.prompts)?,
        resources: list(document.resources)?,
        templates: list(document.templates)?,
        ..Lists::default()
    })
}

fn list<T: Kind>(page: Box<RawValue>) -> Option<Arc<List<T>>> {
    let mut list = List::default();
    take_page(&mut list, &mut HashSet::new(), &page.into()).ok()?;
    // The time to live is over or unknown: it was counted from the last run.
    list.ttl = None;
    Some(Arc::new(list))
}

/// Writes the lists of a server.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(path: &Path, lists: &Lists) -> io::Result<()> {
    let mut text = String::from("{");
    page(&mut text, "tools", "tools", &lists.tools);
    page(&mut text, "prompts", "prompts", &lists.prompts);
    page(&mut text, "resources", "resources", &lists.resources);
    page(
        &mut text,
        "templates",
        "resourceTemplates",
        &lists.templates,
    );
    text.pop();
    text.push('}');
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    turnbuckle_base::replace::private(path, text.as_bytes())
}

fn page<T>(text: &mut String, key: &str, member: &str, list: &List<T>) {
    let _ = write!(text, r#""{key}":{{"{member}":["#);
    for (index, entry) in list.entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(entry.text());
    }
    text.push_str("]},");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let origin = Origin::new("a".into(), Some("digest".to_owned()), Vec::new());
        let file = path(&folder.path().join("lists"), &origin).unwrap();
        assert!(read(&file).is_none());
        let entry = r#"{"name":"t", "inputSchema":{"type":"object"}, "own":1}"#;
        let tools = RawValue::from_string(format!(r#"{{"tools":[{entry}],"ttlMs":5}}"#)).unwrap();
        let lists = Lists {
            tools: list(tools).unwrap(),
            ..Lists::default()
        };
        write(&file, &lists).unwrap();
        let again = read(&file).unwrap();
        assert!(again.is_same(&lists));
        assert_eq!(again.tools.entries[0].text(), entry);
        fs::write(&file, "{").unwrap();
        assert!(read(&file).is_none());
    }

    #[test]
    fn a_server_under_the_same_name_has_a_file_of_its_own() {
        let folder = Path::new("lists");
        let origin = |launch: &str| Origin::new("a".into(), Some(launch.to_owned()), Vec::new());
        assert_ne!(path(folder, &origin("x")), path(folder, &origin("y")));
        let custom = Origin::new("a".into(), None, Vec::new());
        assert_eq!(path(folder, &custom), None);
    }
}
