//! Finding skills.

use turnbuckle_client::{Connection, ExtensionHandle};
use turnbuckle_protocol::Resource;

use super::{LoadedSkill, SkillError, verify};
use crate::{
    GetSkillParams, ListSkillsParams, ReadDirectoryParams, ResourcesDirectoryRead, SkillEntry,
    SkillsExtension, SkillsGet, SkillsList,
};

/// How many pages of a list are read. A server with more skills than fit should not list them all.
const MAX_PAGES: usize = 200;

/// The skills of a server.
///
/// Listing reads no files: entries contain what a model needs to choose a skill. [`load`](Self::load) reads the
/// skill that was chosen.
#[derive(Debug)]
pub struct SkillClient<'a> {
    extension: ExtensionHandle<'a, SkillsExtension>,
}

impl<'a> SkillClient<'a> {
    /// Returns the skills of a server that declares the extension.
    ///
    /// # Errors
    /// [`CallError::NotOffered`](turnbuckle_client::CallError::NotOffered) if the server does not declare it.
    pub fn of(server: &'a Connection) -> Result<Self, SkillError> {
        Ok(Self {
            extension: server.extension()?,
        })
    }

    /// Returns all skills that the server lists. It may serve others, which can be found with
    /// [`get`](Self::get).
    ///
    /// # Errors
    /// If the call fails, or the list has too many pages.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn list(&self) -> Result<Vec<SkillEntry>, SkillError> {
        let mut skills = Vec::new();
        let mut params = ListSkillsParams::default();
        for _ in 0..MAX_PAGES {
            let page = self.extension.call::<SkillsList>(&params).await?;
            skills.extend(page.skills);
            match page.next_cursor {
                None => return Ok(skills),
                cursor => params.cursor = cursor,
            }
        }
        Err(SkillError::Endless { pages: MAX_PAGES })
    }

    /// Returns the entry of one skill, whether or not it is listed. `uri` is the URI of its `SKILL.md`.
    ///
    /// # Errors
    /// If the server does not serve the skill.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn get(&self, uri: impl Into<String>) -> Result<SkillEntry, SkillError> {
        let params = GetSkillParams { uri: uri.into() };
        Ok(self.extension.call::<SkillsGet>(&params).await?.skill)
    }

    /// Reads the `SKILL.md` of a skill and verifies its size, its digest, and that its frontmatter equals that in
    /// the entry. No other file is read.
    ///
    /// # Errors
    /// [`SkillError`] says what differs from the entry. The skill must not be used then.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn load(&self, entry: &SkillEntry) -> Result<LoadedSkill<'a>, SkillError> {
        verify::entry(entry)?;
        LoadedSkill::load(self.extension.connection(), entry.clone()).await
    }

    /// Whether the server lists directories.
    pub fn lists_directories(&self) -> bool {
        self.extension.settings().directory_read
    }

    /// Returns the contents of a directory of a skill, one level deep. Directories have the media type
    /// `inode/directory`.
    ///
    /// # Errors
    /// If there is no such directory, or the server does not list directories.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn directory(&self, uri: impl Into<String>) -> Result<Vec<Resource>, SkillError> {
        if !self.lists_directories() {
            // skills: clients MUST NOT call it otherwise.
            let error = turnbuckle_client::CallError::NotOffered {
                server: self.extension.connection().server().name().into(),
                method: "resources/directory/read".into(),
                reason: "it does not declare `directoryRead`".into(),
            };
            return Err(error.into());
        }
        let mut resources = Vec::new();
        let mut params = ReadDirectoryParams {
            uri: uri.into(),
            cursor: None,
        };
        for _ in 0..MAX_PAGES {
            let page = self
                .extension
                .call::<ResourcesDirectoryRead>(&params)
                .await?;
            resources.extend(page.resources);
            match page.next_cursor {
                None => return Ok(resources),
                cursor => params.cursor = cursor,
            }
        }
        Err(SkillError::Endless { pages: MAX_PAGES })
    }
}
