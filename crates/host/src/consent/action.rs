//! Actions that need a decision before they happen.

use std::{borrow::Cow, fmt};

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, Root, Tool,
};

use crate::id::{ConversationId, ServerId};

/// Something that is about to happen, with the server and the conversation it concerns. A
/// [`Policy`](crate::Policy) is given it, and returns a [`Decision`](crate::Decision).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The server, by the id that the host gave it. The name that a server gives itself is not
    /// here, because it proves nothing.
    pub server: &'a ServerId,
    /// The conversation it belongs to, if it belongs to one. `None` for the start of a server, for
    /// roots, and while the catalog is made.
    pub conversation: Option<ConversationId>,
    /// The action, with everything that is known about it.
    pub action: Action<'a>,
}

/// Something that needs a decision of the policy before it happens.
///
/// Use [`kind`](Self::kind) and [`subject`](Self::subject) for decisions by name, and the fields
/// for decisions by content, such as the arguments of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Action<'a> {
    /// The server is started or connected to. A start that the user allowed once covers restarts of
    /// the same server.
    Start {
        /// The command line, or the URL without its query.
        launch: &'a str,
    },
    /// A tool is called. The policy is also asked about each tool when the catalog is made; tools
    /// that it denies are left out.
    Call {
        /// The tool as its server describes it. Its annotations are unverified hints: they are not
        /// a reason to skip consent.
        tool: &'a Tool,
        /// The arguments; `None` while the catalog is made.
        arguments: Option<&'a RawValue>,
    },
    /// A resource is read, because the application asks for it or has attached it.
    Read {
        /// Its URI.
        uri: &'a str,
    },
    /// The application gets a prompt.
    GetPrompt {
        /// Its name at the server.
        prompt: &'a str,
    },
    /// A form of the server is shown to the user. [`Ask`](crate::Decision::Ask) shows it, because
    /// showing it is the question.
    ShowForm {
        /// The form.
        form: &'a ElicitRequestFormParams,
    },
    /// The user is asked to visit a URL of the server's choice. [`Ask`](crate::Decision::Ask) shows
    /// it.
    ShowUrl {
        /// The URL.
        visit: &'a ElicitRequestUrlParams,
    },
    /// A sampling request of the server goes to the model. [`Ask`](crate::Decision::Ask) shows it
    /// to the user, who may edit it.
    SendPrompt {
        /// The request.
        request: &'a CreateMessageRequestParams,
    },
    /// A model's answer goes to the server. [`Ask`](crate::Decision::Ask) shows it to the user, who
    /// may edit it.
    ReturnAnswer {
        /// The answer.
        answer: &'a CreateMessageResult,
    },
    /// The server gets a root: a folder in which it may work.
    ShareRoot {
        /// The root.
        root: &'a Root,
    },
    /// Resources of the conversation go to the model with a sampling request of the server, which
    /// asked for them with `includeContext`. If it is denied, the request goes without them.
    ShareContext {
        /// The servers that the resources are from.
        servers: &'a [ServerId],
    },
}

/// The kinds of actions. Rules, grants and the audit log name an action by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ActionKind {
    /// A server is started: `start`.
    Start,
    /// A tool is called: `call`.
    Call,
    /// A resource is read: `read`.
    Read,
    /// The application gets a prompt: `prompt`.
    GetPrompt,
    /// A form is shown: `form`.
    ShowForm,
    /// A visit to a URL is proposed: `url`.
    ShowUrl,
    /// A sampling request goes to the model: `sample`.
    SendPrompt,
    /// The model's answer goes to the server: `sample-answer`.
    ReturnAnswer,
    /// A server gets a root: `root`.
    ShareRoot,
    /// Context goes to the model with a sampling request: `context`.
    ShareContext,
}

impl ActionKind {
    /// All kinds, for example to list them in a settings dialog.
    pub const ALL: [Self; 10] = [
        Self::Start,
        Self::Call,
        Self::Read,
        Self::GetPrompt,
        Self::ShowForm,
        Self::ShowUrl,
        Self::SendPrompt,
        Self::ReturnAnswer,
        Self::ShareRoot,
        Self::ShareContext,
    ];

    /// The word for the kind in grants and in the audit log, such as `call` or `sample`.
    /// [`parse`](Self::parse) reads it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Call => "call",
            Self::Read => "read",
            Self::GetPrompt => "prompt",
            Self::ShowForm => "form",
            Self::ShowUrl => "url",
            Self::SendPrompt => "sample",
            Self::ReturnAnswer => "sample-answer",
            Self::ShareRoot => "root",
            Self::ShareContext => "context",
        }
    }

    /// Parses the word of a kind, as [`as_str`](Self::as_str) writes it; `None` if the word is
    /// unknown. Use it to read rules from a settings file.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'a> Action<'a> {
    /// The kind of this action: the same without what it is about. Rules and grants are for a kind.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::Start { .. } => ActionKind::Start,
            Self::Call { .. } => ActionKind::Call,
            Self::Read { .. } => ActionKind::Read,
            Self::GetPrompt { .. } => ActionKind::GetPrompt,
            Self::ShowForm { .. } => ActionKind::ShowForm,
            Self::ShowUrl { .. } => ActionKind::ShowUrl,
            Self::SendPrompt { .. } => ActionKind::SendPrompt,
            Self::ReturnAnswer { .. } => ActionKind::ReturnAnswer,
            Self::ShareRoot { .. } => ActionKind::ShareRoot,
            Self::ShareContext { .. } => ActionKind::ShareContext,
        }
    }

    /// What the action is about: the name of the tool at its server, the URI, the name of the
    /// prompt, the root, the host of a URL, or the servers that context is from, separated by
    /// commas. A grant is for this subject, and rules are matched with it.
    ///
    /// Empty for starts, forms and sampling, where a grant is for all actions of the kind.
    pub fn subject(&self) -> Cow<'a, str> {
        match *self {
            Self::Call { tool, .. } => Cow::Borrowed(tool.name.as_str()),
            Self::Read { uri } => Cow::Borrowed(uri),
            Self::GetPrompt { prompt } => Cow::Borrowed(prompt),
            Self::ShareRoot { root } => Cow::Borrowed(root.uri.as_str()),
            Self::ShareContext { servers } => {
                let names: Vec<&str> = servers.iter().map(ServerId::as_str).collect();
                Cow::Owned(names.join(","))
            }
            // Only the host of a URL counts: the rest differs with each visit, and may be secret.
            Self::ShowUrl { visit } => Cow::Borrowed(host_of(&visit.url)),
            Self::Start { .. }
            | Self::ShowForm { .. }
            | Self::SendPrompt { .. }
            | Self::ReturnAnswer { .. } => Cow::Borrowed(""),
        }
    }
}

/// The host of a URL, which is the one that is really visited: the text between `//` and the path,
/// without a user name in front of it.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_kinds_are_one_to_one() {
        for kind in ActionKind::ALL {
            assert_eq!(ActionKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ActionKind::parse("other"), None);
    }

    #[test]
    fn the_host_is_who_is_visited() {
        for (url, host) in [
            ("https://example.com/a?b", "example.com"),
            ("https://bank.com@evil.example:8443/", "evil.example:8443"),
            ("https://evil.example\\@bank.com/", "evil.example"),
        ] {
            assert_eq!(host_of(url), host);
        }
    }
}
