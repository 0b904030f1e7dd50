//! The methods of the extension, and what each side declares.

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

/// What a host declares: nothing, so far. It need not declare the extension at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillsHost {}

/// What a server declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SkillsServer {
    /// It lists directories with `resources/directory/read`.
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
    /// `skills/list`: the skills that a server serves, or some of them.
    SkillsList = "skills/list": ListSkillsParams => ListSkillsResult;
    /// `skills/get`: one skill, listed or not.
    SkillsGet = "skills/get": GetSkillParams => GetSkillResult;
    /// `resources/directory/read`: what is in a directory.
    ResourcesDirectoryRead = "resources/directory/read": ReadDirectoryParams => ReadDirectoryResult;
}

/// What `skills/list` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSkillsParams {
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What `skills/list` gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSkillsResult {
    /// The skills. That one is missing does not say that it is not served.
    pub skills: Vec<SkillEntry>,
    /// Where to go on, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What `skills/get` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSkillParams {
    /// The address of a `SKILL.md`.
    pub uri: String,
}

/// What `skills/get` gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSkillResult {
    /// The skill.
    pub skill: SkillEntry,
}

/// What `resources/directory/read` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDirectoryParams {
    /// The address of a directory, without a slash at its end.
    pub uri: String,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What `resources/directory/read` gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadDirectoryResult {
    /// What is in it, one level deep; directories have the media type `inode/directory`.
    pub resources: Vec<Resource>,
    /// Where to go on, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
