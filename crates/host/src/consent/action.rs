//! Actions that need a decision before they happen.

use std::{borrow::Cow, fmt};

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, Root, Tool,
};

use crate::id::{ConversationId, ServerId};

/// An action that is about to happen, with the server and the conversation that it concerns. A
/// [`Policy`](crate::Policy) gets it and returns a [`Decision`](crate::Decision).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The server, by the id that the host gave it. The name that a server gives itself is not
    /// included, because it is unverified.
    pub server: &'a ServerId,
    /// The conversation that the action belongs to, if any. `None` for the start of a server, for
    /// roots, and while the catalog is made.
    pub conversation: Option<ConversationId>,
    /// The action and its details.
    pub action: Action<'a>,
}

/// An action that needs a decision of the policy before it happens.
///
/// Use [`kind`](Self::kind) and [`subject`](Self::subject) for decisions by name, and the fields
/// for decisions by content, such as the arguments of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Action<'a> {
    /// A server is started or connected to. Once the user has allowed a start, restarts of the same
    /// server are allowed too.
    Start {
        /// The command line, or the URL without its query.
        launch: &'a str,
    },
    /// A tool is called. The policy is also asked about each tool when the catalog is made; tools
    /// that it denies are left out.
    Call {
        /// The tool as its server describes it. Its annotations are unverified hints and no reason
        /// to skip consent.
        tool: &'a Tool,
        /// The arguments; `None` while the catalog is made.
        arguments: Option<&'a RawValue>,
    },
    /// A resource is read, because the application requests it or has attached it.
    Read {
        /// Its URI.
        uri: &'a str,
    },
    /// The application gets a prompt.
    GetPrompt {
        /// Its name at the server.
        prompt: &'a str,
    },
    /// A form of the server is shown to the user. [`Ask`](crate::Decision::Ask) shows it too,
    /// because the form itself is the question.
    ShowForm {
        /// The form.
        form: &'a ElicitRequestFormParams,
    },
    /// The user is asked to visit a URL that the server chose. [`Ask`](crate::Decision::Ask) shows it too.
    ShowUrl {
        /// The URL.
        visit: &'a ElicitRequestUrlParams,
    },
    /// A sampling request of the server is sent to the model. [`Ask`](crate::Decision::Ask) shows
    /// it to the user, who may edit it.
    SendPrompt {
        /// The request.
        request: &'a CreateMessageRequestParams,
    },
    /// A model's answer is sent to the server. [`Ask`](crate::Decision::Ask) shows it to the user,
    /// who may edit it.
    ReturnAnswer {
        /// The answer.
        answer: &'a CreateMessageResult,
    },
    /// A root is shared with the server: a folder in which it may work.
    ShareRoot {
        /// The root.
        root: &'a Root,
    },
    /// Resources of the conversation are sent to the model with a sampling request of the server,
    /// which asked for them with `includeContext`. If this is denied, the request is sent without
    /// them.
    ShareContext {
        /// The servers that the resources come from.
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
    /// The user is asked to visit a URL: `url`.
    ShowUrl,
    /// A sampling request is sent to the model: `sample`.
    SendPrompt,
    /// The model's answer is sent to the server: `sample-answer`.
    ReturnAnswer,
    /// A root is shared with a server: `root`.
    ShareRoot,
    /// Context is sent to the model with a sampling request: `context`.
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

    /// Parses the word for a kind, as written by [`as_str`](Self::as_str). Returns `None` if the
    /// word is unknown. Use it to read rules from a settings file.
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
    /// The kind of this action, without its details. Rules and grants are made for a kind.
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

    /// The subject of the action: the name of the tool at its server, the URI, the name of the
    /// prompt, the root, the host of a URL, or the servers that context comes from, separated by
    /// commas. Rules are matched with the subject, and a grant is for one subject.
    ///
    /// Empty for starts, forms and sampling; a grant for them covers all actions of the kind.
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
            // Use only the host of the URL: the rest differs with each visit and may be secret.
            Self::ShowUrl { visit } => Cow::Borrowed(host_of(&visit.url)),
            Self::Start { .. }
            | Self::ShowForm { .. }
            | Self::SendPrompt { .. }
            | Self::ReturnAnswer { .. } => Cow::Borrowed(""),
        }
    }
}

/// The host of a URL that is really visited: the text between `//` and the path, without a user
/// name in front of it.
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
