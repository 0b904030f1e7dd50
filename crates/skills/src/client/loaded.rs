//! A skill that was loaded.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use turnbuckle_client::Connection;
use turnbuckle_protocol::ResourceContents;

use super::{SkillError, verify};
use crate::{Frontmatter, SkillEntry, uri};

/// A skill whose `SKILL.md` was read and verified.
#[derive(Debug)]
pub struct LoadedSkill<'a> {
    server: &'a Connection,
    entry: SkillEntry,
    text: String,
}

impl<'a> LoadedSkill<'a> {
    pub(super) async fn load(
        server: &'a Connection,
        entry: SkillEntry,
    ) -> Result<Self, SkillError> {
        let bytes = read(server, &entry, &entry.uri).await?;
        let text = String::from_utf8(bytes).map_err(|_| SkillError::BadFile {
            uri: entry.uri.as_str().into(),
            problem: "it is not UTF-8",
        })?;
        verify::frontmatter(&entry, &text)?;
        Ok(Self {
            server,
            entry,
            text,
        })
    }

    /// The entry of the skill in the list of the server.
    pub fn entry(&self) -> &SkillEntry {
        &self.entry
    }

    /// The whole `SKILL.md`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The `SKILL.md` without its frontmatter: the text for the model.
    pub fn instructions(&self) -> &str {
        Frontmatter::parse(&self.text).map_or(&self.text, |parsed| parsed.body)
    }

    /// Reads a file that the skill refers to, by its path relative to the skill's directory, and verifies
    /// it. The `SKILL.md` of a skill inside this one is returned as plain text: to load that skill, get
    /// its own entry and ask the user.
    ///
    /// # Errors
    /// [`SkillError`] says what differs from the entry. The content must not be used then.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn read(&self, path: &str) -> Result<Vec<u8>, SkillError> {
        let outside = || SkillError::Outside { path: path.into() };
        let root = uri::root_of(&self.entry.uri).ok_or_else(outside)?;
        let inner = uri::within(path).ok_or_else(outside)?;
        read(
            self.server,
            &self.entry,
            &format!("{root}/{}", uri::encode(&inner)),
        )
        .await
    }
}

/// Reads one file and verifies it. A file that is not listed is not even requested.
async fn read(server: &Connection, entry: &SkillEntry, uri: &str) -> Result<Vec<u8>, SkillError> {
    let listed = verify::listed(entry, uri)?;
    let bytes = bytes(uri, server.read(uri).await?.contents)?;
    if let Some(file) = listed {
        verify::content(file, &bytes)?;
    }
    Ok(bytes)
}

fn bytes(uri: &str, contents: Vec<ResourceContents>) -> Result<Vec<u8>, SkillError> {
    let bad = |problem| SkillError::BadFile {
        uri: uri.into(),
        problem,
    };
    let [contents]: [ResourceContents; 1] = contents
        .try_into()
        .map_err(|_| bad("a file must have exactly one content"))?;
    match contents {
        ResourceContents::Text(text) => Ok(text.text.into_bytes()),
        ResourceContents::Blob(blob) => {
            let decoded = BASE64_STANDARD.decode(blob.blob);
            decoded.map_err(|_| bad("its bytes are not base64"))
        }
        _ => Err(bad("it is neither text nor bytes")),
    }
}
