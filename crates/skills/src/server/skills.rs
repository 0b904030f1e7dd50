//! The extension, with all skills of a server.

use std::{path::Path, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use turnbuckle_protocol::{
    self as protocol, BlobResourceContents, ResourceContents, TextResourceContents,
};
use turnbuckle_server::{Extension, ExtensionMethod, Params, Resource};

use super::{
    Skill, SkillFault,
    library::{DIRECTORY, Library},
    media, open,
};
use crate::{
    GetSkillParams, ListSkillsParams, ReadDirectoryParams, ResourcesDirectoryRead, SkillEntry,
    SkillsExtension, SkillsGet, SkillsList, SkillsServer,
    uri::{self, SKILL_FILE},
};

/// The skills of a server. Pass it to [`Server::extension`](turnbuckle_server::Server::extension).
#[derive(Clone, Debug, Default)]
#[must_use = "skills do nothing until a server is given them"]
pub struct Skills {
    skills: Vec<Skill>,
    settings: SkillsServer,
}

impl Skills {
    /// Starts with no skills.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a skill.
    pub fn skill(mut self, skill: Skill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Adds every skill below a directory. The directories above a skill become part of its URI.
    ///
    /// # Errors
    /// [`SkillFault`] names the file that caused the error, or says that there is no skill.
    pub fn open(mut self, directory: impl AsRef<Path>) -> Result<Self, SkillFault> {
        for (path, prefix) in open::skills(directory.as_ref())? {
            self.skills.push(Skill::open(path)?.under(&prefix));
        }
        Ok(self)
    }

    /// Lets hosts list directories of skills, with `resources/directory/read`.
    pub fn directories(mut self) -> Self {
        self.settings.directory_read = true;
        self
    }
}

impl From<Skills> for Extension {
    fn from(skills: Skills) -> Self {
        let mut extension = Self::of::<SkillsExtension>(&skills.settings);
        let mut library = Library::default();
        // A file of a skill inside another skill belongs to both, and is served once.
        let mut served = std::collections::BTreeSet::new();
        for skill in &skills.skills {
            let (root, entry) = match skill.entry() {
                Ok(entry) => entry,
                Err(problem) => return extension.problem(problem),
            };
            for (path, content) in &skill.files {
                let listed = describe(&root, path, content, &entry);
                library.add(&root, path, &listed);
                if served.insert(listed.uri.clone()) {
                    extension = extension.resource(resource(listed, content));
                }
            }
            if library.entries.iter().any(|known| known.uri == entry.uri) {
                let uri = &entry.uri;
                return extension.problem(format!("there are two skills at `{uri}`"));
            }
            library.entries.push(entry);
        }
        with_methods(extension, Arc::new(library), skills.settings)
    }
}

/// skills: clients need not declare anything to use these methods.
fn with_methods(extension: Extension, library: Arc<Library>, settings: SkillsServer) -> Extension {
    let listing = Arc::clone(&library);
    let list = move |Params(params): Params<ListSkillsParams>| {
        let library = Arc::clone(&listing);
        async move { library.list(&params) }
    };
    let getting = Arc::clone(&library);
    let get = move |Params(params): Params<GetSkillParams>| {
        let library = Arc::clone(&getting);
        async move { library.get(&params) }
    };
    let extension = extension
        .method(ExtensionMethod::cacheable::<SkillsList, _>(list).open())
        .method(ExtensionMethod::cacheable::<SkillsGet, _>(get).open());
    if !settings.directory_read {
        return extension;
    }
    let read = move |Params(params): Params<ReadDirectoryParams>| {
        let library = Arc::clone(&library);
        async move { library.read(&params) }
    };
    extension.method(ExtensionMethod::cacheable::<ResourcesDirectoryRead, _>(read).open())
}

impl Library {
    /// Adds a file to its directory, and the directory to the one above it, up to the skill's own.
    fn add(&mut self, root: &str, path: &str, file: &protocol::Resource) {
        let mut child = file.clone();
        let mut rest = path;
        loop {
            let (parent, _) = rest.rsplit_once('/').unwrap_or(("", rest));
            let folder = if parent.is_empty() {
                root.to_owned()
            } else {
                format!("{root}/{}", uri::encode(parent))
            };
            let children = self.directories.entry(folder.clone()).or_default();
            children.insert(child.uri.clone(), child);
            if parent.is_empty() {
                return;
            }
            let name = parent.rsplit('/').next().unwrap_or(parent);
            child = protocol::Resource::new(folder, name).with_mime_type(DIRECTORY);
            rest = parent;
        }
    }
}

/// A file as a resource in lists. `SKILL.md` has the name of the skill.
fn describe(root: &str, path: &str, content: &[u8], entry: &SkillEntry) -> protocol::Resource {
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let is_text = std::str::from_utf8(content).is_ok();
    let mut listed = protocol::Resource::new(format!("{root}/{}", uri::encode(path)), file_name)
        .with_mime_type(media::type_of(file_name, is_text));
    listed.size = Some(content.len() as u64);
    if path == SKILL_FILE {
        entry.name().clone_into(&mut listed.name);
        listed.description = Some(entry.description().to_owned());
    }
    listed
}

fn resource(listed: protocol::Resource, content: &Arc<[u8]>) -> Resource {
    let contents = contents(&listed, content);
    let contents = Arc::new(contents);
    let read = move || {
        let contents = Arc::clone(&contents);
        async move { ResourceContents::clone(&contents) }
    };
    let mut resource = Resource::new(listed.uri, read).name(listed.name);
    if let Some(about) = listed.description {
        resource = resource.about(about);
    }
    if let Some(mime_type) = listed.mime_type {
        resource = resource.mime_type(mime_type);
    }
    resource.size(content.len() as u64)
}

/// The contents as text if they are UTF-8, so that clients get exactly the bytes that were digested.
fn contents(listed: &protocol::Resource, content: &[u8]) -> ResourceContents {
    if let Ok(text) = std::str::from_utf8(content) {
        let mut contents = TextResourceContents::new(listed.uri.as_str(), text);
        contents.mime_type.clone_from(&listed.mime_type);
        contents.into()
    } else {
        let blob = BASE64_STANDARD.encode(content);
        let mut contents = BlobResourceContents::new(listed.uri.as_str(), blob);
        contents.mime_type.clone_from(&listed.mime_type);
        contents.into()
    }
}
