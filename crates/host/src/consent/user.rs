//! Questions to the user, through one trait that a user interface implements.

use std::{collections::BTreeMap, sync::Arc};

use futures_core::future::BoxFuture;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitValue, JsonObject, ToolAnnotations,
};

use super::{Action, ActionKind, action::host_of};
use crate::id::{ConversationId, ServerId};

/// The server that asks a question, and the conversation that it asks for. Every method of
/// [`UserInterface`] gets one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requester {
    /// The server, by the id that the host gave it. Show this id.
    pub server: ServerId,
    /// The name that the server gives itself. It may be the name of another server, so do not use
    /// it to identify the server. `None` before the server has been connected to.
    pub calls_itself: Option<String>,
    /// The conversation that the question belongs to, if it is known. A server on a pipe that works
    /// for several conversations at once does not say which one it asks for.
    pub conversation: Option<ConversationId>,
}

/// For how long the user allows an action. [`ConsentQuestion::scopes`] lists the scopes that can be
/// chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Once. For the start of a server: until the server is removed from the host or the host is closed.
    Once,
    /// Until the conversation ends. Outside of a conversation it has the effect of [`Once`](Self::Once).
    Conversation,
    /// Until it is revoked. The grant is written to the file of grants, or kept while the host runs
    /// if there is no such file.
    Always,
}

impl Scope {
    /// The word for the scope in the audit log: `once`, `conversation` or `always`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Conversation => "conversation",
            Self::Always => "always",
        }
    }
}

/// An action that the user is asked to allow. Show at least the server, the kind and the subject;
/// for a call the arguments, and for a start the command line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConsentQuestion {
    /// The kind of action.
    pub kind: ActionKind,
    /// The subject: the tool, the URI, the root. Empty if the action has no subject.
    pub subject: String,
    /// The command line or the URL of a server that is started, without secrets; `None` for other
    /// kinds.
    pub launch: Option<String>,
    /// The arguments of a call, as JSON. The user may change them; see
    /// [`ConsentAnswer::AllowEdited`].
    pub arguments: Option<Box<RawValue>>,
    /// The server's description of the tool, unverified. Show it as a quotation from the server.
    pub description: Option<String>,
    /// The server's hints about the tool's effects, unverified.
    pub hints: Option<ToolAnnotations>,
    /// Whether the user has allowed a tool of this name before, and the server has since changed
    /// its description, arguments or hints. Tell the user.
    pub has_changed: bool,
    /// The scopes that can be chosen. [`Scope::Conversation`] is included only if there is a conversation.
    pub scopes: Vec<Scope>,
}

impl ConsentQuestion {
    pub(crate) fn new(action: &Action<'_>, scopes: Vec<Scope>) -> Self {
        let mut question = Self {
            kind: action.kind(),
            subject: action.subject().into_owned(),
            launch: None,
            arguments: None,
            description: None,
            hints: None,
            has_changed: false,
            scopes,
        };
        match action {
            Action::Start { launch } => question.launch = Some((*launch).to_owned()),
            Action::Call { tool, arguments } => {
                question.arguments = arguments.map(ToOwned::to_owned);
                question.description.clone_from(&tool.description);
                question.hints.clone_from(&tool.annotations);
            }
            _ => {}
        }
        question
    }
}

/// The user's answer to a [`ConsentQuestion`], returned by [`UserInterface::consent`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConsentAnswer {
    /// The action is allowed for this scope.
    Allow(Scope),
    /// The tool may be called once, with these arguments instead. The policy decides about the new
    /// arguments too. For actions other than calls this has the effect of `Allow(Scope::Once)`.
    AllowEdited(JsonObject),
    /// The action is denied this time; the caller gets [`Denied::ByUser`](crate::Denied::ByUser).
    Deny,
}

/// The user's answer to a form (elicitation), returned by [`UserInterface::form`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FormAnswer {
    /// The user filled in the form. The values are keyed by the names of their fields, and are
    /// checked against the form's schema before the server gets them.
    Accept(BTreeMap<String, ElicitValue>),
    /// The user declined to answer. The server gets the action `decline`.
    Decline,
    /// The user dismissed the form without an answer, for example by closing the window. The server
    /// gets the action `cancel`.
    Cancel,
}

/// The user's answer to a request to visit a URL, returned by [`UserInterface::visit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VisitAnswer {
    /// The user agreed to visit the URL. Open it in the user's browser before you return this answer.
    ///
    /// If a call waits for the visit, [`UserInterface::visit_done`] is called next.
    Accept,
    /// The user declined to visit it. The server gets the action `decline`.
    Decline,
    /// The user dismissed the question without an answer. The server gets the action `cancel`.
    Cancel,
}

/// The user's answer to a message that goes to a model or comes from it, returned by
/// [`UserInterface::review_prompt`] and [`UserInterface::review_answer`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Review<T> {
    /// The message is passed on unchanged. With a longer scope than once, further messages of the
    /// server are passed on without being shown.
    Accept(Scope),
    /// This edited message is passed on instead. The policy decides about it again.
    Edited(Box<T>),
    /// The message is not passed on. The server gets the answer that the user declined.
    Decline,
}

/// A URL that a server asks the user to visit, with the host that it really leads to.
/// [`UserInterface::visit`] gets it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct VisitRequest<'a> {
    /// The server's message, and the URL.
    pub request: &'a ElicitRequestUrlParams,
    /// The host that is visited. Show it: the rest of a URL may be misleading.
    pub host: &'a str,
}

impl<'a> VisitRequest<'a> {
    pub(crate) fn new(request: &'a ElicitRequestUrlParams) -> Self {
        Self {
            host: host_of(&request.url),
            request,
        }
    }
}

/// The user interface through which a host asks its user. Give it to
/// [`HostBuilder::user`](crate::HostBuilder::user).
///
/// Implement the methods for the kinds of questions that your application can show; the default
/// implementations deny or decline. One question is asked at a time, and the others wait. If a
/// question is withdrawn, because the call was cancelled or the server ended, its future is
/// dropped.
///
/// ```
/// use std::future::{Future, ready};
/// use std::pin::Pin;
/// use turnbuckle_host::{ConsentAnswer, ConsentQuestion, Requester, Scope, UserInterface};
///
/// struct Terminal;
///
/// impl UserInterface for Terminal {
///     fn consent<'a>(
///         &'a self,
///         who: &'a Requester,
///         question: &'a ConsentQuestion,
///     ) -> Pin<Box<dyn Future<Output = ConsentAnswer> + Send + 'a>> {
///         // A real one asks here, and waits for the answer.
///         println!("{}: {} {}", who.server, question.kind, question.subject);
///         Box::pin(ready(ConsentAnswer::Allow(Scope::Once)))
///     }
/// }
/// ```
pub trait UserInterface: Send + Sync + 'static {
    /// Asks whether an action may happen, and returns the answer of the user. The host calls it
    /// when the policy decides [`Ask`](crate::Decision::Ask) and no grant covers the action.
    ///
    /// Defaults to [`ConsentAnswer::Deny`].
    fn consent<'a>(
        &'a self,
        who: &'a Requester,
        question: &'a ConsentQuestion,
    ) -> BoxFuture<'a, ConsentAnswer> {
        let _ = (who, question);
        Box::pin(std::future::ready(ConsentAnswer::Deny))
    }

    /// Shows a form of a server (elicitation), and returns what the user filled in. The values are
    /// checked against the form's schema afterwards. Say which server asks, and let the user
    /// decline.
    ///
    /// Defaults to [`FormAnswer::Decline`].
    fn form<'a>(
        &'a self,
        who: &'a Requester,
        form: &'a ElicitRequestFormParams,
    ) -> BoxFuture<'a, FormAnswer> {
        let _ = (who, form);
        Box::pin(std::future::ready(FormAnswer::Decline))
    }

    /// Asks whether the user wants to visit a URL, which must not be opened or fetched before. Show
    /// the host of the URL, and open it in the user's browser if they agree.
    ///
    /// Defaults to [`VisitAnswer::Decline`].
    fn visit<'a>(
        &'a self,
        who: &'a Requester,
        visit: VisitRequest<'a>,
    ) -> BoxFuture<'a, VisitAnswer> {
        let _ = (who, visit);
        Box::pin(std::future::ready(VisitAnswer::Decline))
    }

    /// Waits until the user says that they are done at a URL that they agreed to visit. The host
    /// calls it only if a call waits for the visit (error -32042 of 2025-11-25). It makes the call
    /// again when the future ends, or when the server reports the end of the visit and the future
    /// is dropped.
    ///
    /// Unlike other questions, this one may be open at the same time as others, because a visit can
    /// take long.
    ///
    /// Defaults to waiting for the server. Not all servers report the end; if the server does not,
    /// the call fails with the server's error after ten minutes.
    fn visit_done<'a>(&'a self, who: &'a Requester, visit: VisitRequest<'a>) -> BoxFuture<'a, ()> {
        let _ = (who, visit);
        Box::pin(std::future::pending())
    }

    /// Shows a sampling request of a server before it is sent to the model. The request includes
    /// the resources that were allowed as context.
    ///
    /// Defaults to [`Review::Decline`].
    fn review_prompt<'a>(
        &'a self,
        who: &'a Requester,
        request: &'a CreateMessageRequestParams,
    ) -> BoxFuture<'a, Review<CreateMessageRequestParams>> {
        let _ = (who, request);
        Box::pin(std::future::ready(Review::Decline))
    }

    /// Shows the model's answer to a sampling request before it is sent to the server.
    ///
    /// Defaults to [`Review::Decline`].
    fn review_answer<'a>(
        &'a self,
        who: &'a Requester,
        answer: &'a CreateMessageResult,
    ) -> BoxFuture<'a, Review<CreateMessageResult>> {
        let _ = (who, answer);
        Box::pin(std::future::ready(Review::Decline))
    }
}

impl<T: UserInterface + ?Sized> UserInterface for Arc<T> {
    fn consent<'a>(
        &'a self,
        who: &'a Requester,
        question: &'a ConsentQuestion,
    ) -> BoxFuture<'a, ConsentAnswer> {
        (**self).consent(who, question)
    }

    fn form<'a>(
        &'a self,
        who: &'a Requester,
        form: &'a ElicitRequestFormParams,
    ) -> BoxFuture<'a, FormAnswer> {
        (**self).form(who, form)
    }

    fn visit<'a>(
        &'a self,
        who: &'a Requester,
        visit: VisitRequest<'a>,
    ) -> BoxFuture<'a, VisitAnswer> {
        (**self).visit(who, visit)
    }

    fn visit_done<'a>(&'a self, who: &'a Requester, visit: VisitRequest<'a>) -> BoxFuture<'a, ()> {
        (**self).visit_done(who, visit)
    }

    fn review_prompt<'a>(
        &'a self,
        who: &'a Requester,
        request: &'a CreateMessageRequestParams,
    ) -> BoxFuture<'a, Review<CreateMessageRequestParams>> {
        (**self).review_prompt(who, request)
    }

    fn review_answer<'a>(
        &'a self,
        who: &'a Requester,
        answer: &'a CreateMessageResult,
    ) -> BoxFuture<'a, Review<CreateMessageResult>> {
        (**self).review_answer(who, answer)
    }
}
