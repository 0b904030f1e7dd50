//! The entry of a skill: its URI, its frontmatter, and its files.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use turnbuckle_protocol::JsonObject;

use crate::Digest;

/// One skill in the results of `skills/list` and `skills/get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`. It identifies the skill; its name does not.
    pub uri: String,
    /// All fields of the frontmatter of its `SKILL.md`.
    pub frontmatter: JsonObject,
    /// Its files.
    #[serde(default)]
    pub resources: SkillResources,
}

impl SkillEntry {
    /// The name: a label for people and models, which two skills may share.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The description, which says when to use the skill.
    pub fn description(&self) -> &str {
        self.text("description")
    }

    fn text(&self, field: &str) -> &str {
        let value = self.frontmatter.get(field);
        value.and_then(Value::as_str).unwrap_or_default()
    }
}

/// The files of a skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SkillResources {
    /// A list of all files, including `SKILL.md`.
    Listed(Vec<SkillFile>),
    /// The files are generated when they are read, so their content is not known in advance. A host may
    /// refuse such a skill.
    #[default]
    Dynamic,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFile {
    /// Its URI.
    pub uri: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// How many bytes it has. `None` from servers that implement early drafts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

const DYNAMIC: &str = "dynamic";

impl Serialize for SkillResources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str(DYNAMIC),
        }
    }
}

impl<'de> Deserialize<'de> for SkillResources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == DYNAMIC => Ok(Self::Dynamic),
            files @ Value::Array(_) => Vec::deserialize(files)
                .map(Self::Listed)
                .map_err(de::Error::custom),
            other => Err(de::Error::custom(format_args!(
                "`resources` is a list of files or \"dynamic\", not {other}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_listed_or_dynamic() {
        let read = |resources: Value| serde_json::from_value::<SkillResources>(resources);
        assert_eq!(read(json!("dynamic")).unwrap(), SkillResources::Dynamic);
        let digest = Digest::of(b"").to_string();
        let listed = read(json!([{"uri": "skill://a/SKILL.md", "digest": digest, "size": 0}]));
        assert!(matches!(listed.unwrap(), SkillResources::Listed(files) if files.len() == 1));
        for bad in [
            json!("all"),
            json!({}),
            json!(null),
            json!([{"uri": "x", "digest": "y"}]),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
