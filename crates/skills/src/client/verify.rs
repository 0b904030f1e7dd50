//! Checks that content agrees with the entry of its skill.

use serde_json::Value;
use turnbuckle_protocol::JsonObject;

use super::SkillError;
use crate::{
    Digest, Frontmatter, MAX_FILES, MAX_SKILL_BYTES, SkillEntry, SkillFile, SkillResources, uri,
};

/// Checks an entry by itself, before anything is read.
pub(super) fn entry(entry: &SkillEntry) -> Result<(), SkillError> {
    let bad = |problem| SkillError::BadEntry {
        uri: entry.uri.as_str().into(),
        problem,
    };
    let root =
        uri::root_of(&entry.uri).ok_or_else(|| bad("its address must end with /SKILL.md"))?;
    if !uri::is_name(entry.name()) {
        return Err(bad("its name is not a valid skill name"));
    }
    // skills: the last segment of the path MUST be the name.
    if uri::last_segment(root) != entry.name() {
        return Err(bad("its address and its name differ"));
    }
    let SkillResources::Listed(files) = &entry.resources else {
        return Ok(());
    };
    if files.len() > MAX_FILES {
        return Err(bad("it lists too many files"));
    }
    let bytes = files
        .iter()
        .map(|file| file.size.unwrap_or(0))
        .fold(0, u64::saturating_add);
    if bytes > MAX_SKILL_BYTES {
        return Err(bad("its files are too large"));
    }
    let is_inside = |file: &SkillFile| {
        let path = file
            .uri
            .strip_prefix(root)
            .and_then(|path| path.strip_prefix('/'));
        path.is_some_and(|path| uri::within(path).is_some())
    };
    if !files.iter().all(is_inside) {
        return Err(bad("it lists files of other directories"));
    }
    let mut seen = std::collections::BTreeSet::new();
    if !files.iter().all(|file| seen.insert(file.uri.as_str())) {
        return Err(bad("it lists a file twice"));
    }
    if !seen.contains(entry.uri.as_str()) {
        return Err(bad("it does not list its own SKILL.md"));
    }
    Ok(())
}

/// The file in an entry; `None` for a skill whose files are generated when they are read.
pub(super) fn listed<'e>(
    entry: &'e SkillEntry,
    uri: &str,
) -> Result<Option<&'e SkillFile>, SkillError> {
    match &entry.resources {
        SkillResources::Dynamic => Ok(None),
        SkillResources::Listed(files) => {
            let file = files.iter().find(|file| file.uri == uri);
            // skills: a file that is not listed is a change to the skill.
            file.map(Some)
                .ok_or_else(|| SkillError::Unlisted { uri: uri.into() })
        }
    }
}

/// Checks the content of a file. The length is checked first, because that costs nothing.
pub(super) fn content(file: &SkillFile, bytes: &[u8]) -> Result<(), SkillError> {
    let found = bytes.len() as u64;
    if let Some(listed) = file.size.filter(|listed| *listed != found) {
        return Err(SkillError::Size {
            uri: file.uri.as_str().into(),
            listed,
            found,
        });
    }
    let found = Digest::of(bytes);
    if file.digest != found {
        return Err(SkillError::Digest {
            uri: file.uri.as_str().into(),
            listed: file.digest,
            found,
        });
    }
    Ok(())
}

/// Checks the frontmatter of a `SKILL.md`, field by field.
pub(super) fn frontmatter(entry: &SkillEntry, text: &str) -> Result<(), SkillError> {
    let parsed = Frontmatter::parse(text).map_err(|problem| SkillError::BadSkill {
        uri: entry.uri.as_str().into(),
        problem,
    })?;
    match difference(&entry.frontmatter, &parsed.fields) {
        None => Ok(()),
        Some(field) => Err(SkillError::Frontmatter {
            uri: entry.uri.as_str().into(),
            field: field.into(),
        }),
    }
}

/// The first field that differs.
fn difference<'a>(listed: &'a JsonObject, found: &'a JsonObject) -> Option<&'a str> {
    let fields = listed.keys().chain(found.keys());
    fields.map(String::as_str).find(|field| {
        let (listed, found) = (listed.get(*field), found.get(*field));
        !listed
            .zip(found)
            .is_some_and(|(listed, found)| is_same(listed, found))
    })
}

/// Whether two values mean the same. Libraries for YAML and JSON in other languages write numbers in other ways.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => difference(one, other).is_none(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> JsonObject {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn frontmatter_is_compared_by_meaning() {
        let listed = object(&json!({"name": "a", "metadata": {"x": 1, "y": [true, null]}}));
        let same = object(&json!({"metadata": {"y": [true, null], "x": 1.0}, "name": "a"}));
        assert_eq!(difference(&listed, &same), None);
        for (other, field) in [
            (
                json!({"name": "b", "metadata": {"x": 1, "y": [true, null]}}),
                "name",
            ),
            (
                json!({"name": "a", "metadata": {"x": "1", "y": [true, null]}}),
                "metadata",
            ),
            (
                json!({"name": "a", "metadata": {"x": 1, "y": [true]}}),
                "metadata",
            ),
            (json!({"name": "a"}), "metadata"),
            (
                json!({"name": "a", "metadata": {"x": 1, "y": [true, null]}, "z": 1}),
                "z",
            ),
        ] {
            assert_eq!(difference(&listed, &object(&other)), Some(field), "{other}");
        }
    }

    #[test]
    fn an_entry_that_contradicts_itself_is_refused() {
        let digest = Digest::of(b"").to_string();
        let file = |uri: &str| json!({"uri": uri, "digest": digest, "size": 0});
        let own = file("skill://x/a/SKILL.md");
        let check = |uri: &str, files: Value| {
            let frontmatter = json!({"name": "a", "description": "d"});
            let json = json!({"uri": uri, "frontmatter": frontmatter, "resources": files});
            entry(&serde_json::from_value(json).unwrap())
        };
        assert!(
            check(
                "skill://x/a/SKILL.md",
                json!([own, file("skill://x/a/b/c.md")])
            )
            .is_ok()
        );
        assert!(check("skill://x/a/SKILL.md", json!("dynamic")).is_ok());
        assert!(
            check("skill://x/b/SKILL.md", json!("dynamic")).is_err(),
            "another name"
        );
        assert!(check("skill://x/a/README.md", json!("dynamic")).is_err());
        for files in [
            json!([]),
            json!([file("skill://x/a/other.md")]),
            json!([own, own]),
            json!([own, file("skill://x/ab/c.md")]),
            json!([own, file("skill://x/a/../b.md")]),
            json!([own, file("file:///etc/passwd")]),
        ] {
            assert!(
                check("skill://x/a/SKILL.md", files.clone()).is_err(),
                "{files}"
            );
        }
    }
}
