//! The methods of the extension, and the settings that each side declares.

use serde::{Deserialize, Serialize};
use turnbuckle_protocol::{Complete, ExtensionSpec, Resource, method::Method};

use crate::SkillEntry;

/// The skills extension, as a type.
#[derive(Clone, Copy, Debug)]
pub struct SkillsExtension;

impl ExtensionSpec for SkillsExtension {
    const ID: &'static str = "io.modelcontextprotocol/skills";
    type Client = SkillsHost;
    type Server = SkillsServer;
}

/// The settings that a host declares. They are empty so far, and a host need not declare the extension at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillsHost {}

/// The settings that a server declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SkillsServer {
    /// Whether the server lists directories with `resources/directory/read`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub directory_read: bool,
}

/// Declares a method.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $wire:literal: $params:ty => $result:ty;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default)]
            pub struct $name;

            impl Method for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
                type Result = $result;
                type Outcome = Complete<$result>;
            }
        )+
    };
}

methods! {
    /// `skills/list`: the skills that a server lists, which need not be all.
    SkillsList = "skills/list": ListSkillsParams => ListSkillsResult;
    /// `skills/get`: one skill, whether or not it is listed.
    SkillsGet = "skills/get": GetSkillParams => GetSkillResult;
    /// `resources/directory/read`: the contents of a directory.
    ResourcesDirectoryRead = "resources/directory/read": ReadDirectoryParams => ReadDirectoryResult;
}

/// The parameters of `skills/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSkillsParams {
    /// The cursor of the page; `None` for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The result of `skills/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSkillsResult {
    /// The skills. A server may also serve skills that it does not list.
    pub skills: Vec<SkillEntry>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The parameters of `skills/get`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSkillParams {
    /// The URI of a `SKILL.md`.
    pub uri: String,
}

/// The result of `skills/get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSkillResult {
    /// The skill.
    pub skill: SkillEntry,
}

/// The parameters of `resources/directory/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDirectoryParams {
    /// The URI of a directory, without a slash at its end.
    pub uri: String,
    /// The cursor of the page; `None` for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The result of `resources/directory/read`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadDirectoryResult {
    /// The contents of the directory, one level deep. Directories have the media type `inode/directory`.
    pub resources: Vec<Resource>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
