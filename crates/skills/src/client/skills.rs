//! Finding skills.

use turnbuckle_client::{Connection, ExtensionHandle};
use turnbuckle_protocol::Resource;

use super::{LoadedSkill, SkillError, verify};
use crate::{
    GetSkillParams, ListSkillsParams, ReadDirectoryParams, ResourcesDirectoryRead, SkillEntry,
    SkillsExtension, SkillsGet, SkillsList,
};

/// Pages of a list that are read. A server with more skills than fit does not want them listed.
const MAX_PAGES: usize = 200;

/// The skills of a server.
///
/// Finding reads no file: entries hold what a model needs to choose. [`load`](Self::load) reads the
/// one that was chosen.
#[derive(Debug)]
pub struct SkillClient<'a> {
    extension: ExtensionHandle<'a, SkillsExtension>,
}

impl<'a> SkillClient<'a> {
    /// The skills of a server that declares the extension.
    ///
    /// # Errors
    /// [`CallError::NotOffered`](turnbuckle_client::CallError::NotOffered) if it does not.
    pub fn of(server: &'a Connection) -> Result<Self, SkillError> {
        Ok(Self {
            extension: server.extension()?,
        })
    }

    /// All skills that the server lists. It may serve others; those are found with
    /// [`get`](Self::get).
    ///
    /// # Errors
    /// If the server does not answer, or its list does not end.
    ///
    /// # Cancel safety
    /// Dropping the future gives the listing up.
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

    /// The entry of one skill, listed or not.
    ///
    /// # Errors
    /// If the server does not serve it.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up.
    pub async fn get(&self, uri: impl Into<String>) -> Result<SkillEntry, SkillError> {
        let params = GetSkillParams { uri: uri.into() };
        Ok(self.extension.call::<SkillsGet>(&params).await?.skill)
    }

    /// Reads the `SKILL.md` of a skill and verifies it: its size, its digest, and that its
    /// frontmatter is what the entry says. No other file is read.
    ///
    /// # Errors
    /// [`SkillError`] says what is not as promised. The skill must not be used then.
    ///
    /// # Cancel safety
    /// Dropping the future gives the reading up.
    pub async fn load(&self, entry: &SkillEntry) -> Result<LoadedSkill<'a>, SkillError> {
        verify::entry(entry)?;
        LoadedSkill::load(self.extension.connection(), entry.clone()).await
    }

    /// Whether the server lists directories.
    pub fn lists_directories(&self) -> bool {
        self.extension.settings().directory_read
    }

    /// What is in a directory of a skill, one level deep. Directories have the media type
    /// `inode/directory`.
    ///
    /// # Errors
    /// If there is no such directory, or the server does not list directories.
    ///
    /// # Cancel safety
    /// Dropping the future gives the listing up.
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
