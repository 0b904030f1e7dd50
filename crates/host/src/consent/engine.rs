//! Decides about an action: the policy first, then grants, then the user.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::Mutex;
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, JsonObject, Tool,
};

use super::{
    Action, ActionKind, Audit, AuditRecord, ConsentAnswer, ConsentQuestion, Decision, FormAnswer,
    Policy, Request, Requester, Review, Scope, UserInterface, VisitAnswer, VisitRequest,
    grant::GrantKey, grants::Grants,
};
use crate::{
    fleet::{Origin, matches},
    id::ConversationId,
    shown_uri::without_secrets,
};

/// Why an action was denied, as the source of [`HostError::Denied`](crate::HostError::Denied). The
/// variant tells what to change: the policy, or the answer of the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// The policy denies it, for this reason, which may be shown to the user and to a model. Asking
    /// again has the same result until the policy changes.
    #[error("the policy does not allow it: {0}")]
    ByPolicy(String),
    /// The user denied it this time. The next attempt asks again.
    #[error("the user did not allow it")]
    ByUser,
    /// The user would have to be asked, but there is no user interface. Allow the action in the
    /// policy, grant it beforehand, or set [`HostBuilder::user`](crate::HostBuilder::user).
    #[error(
        "the user must allow it, but there is no user interface to ask; allow it in the policy, or grant it beforehand"
    )]
    NoUserInterface,
    /// The server already has eight open questions. Its new question is declined; calls of the
    /// application are not affected.
    #[error("the server has too many questions open")]
    TooManyQuestions,
    /// The server asked a question while no call to it was in flight. The question is declined
    /// without being shown.
    #[error("the server asked while no call to it was running")]
    NotCalled,
}

impl Denied {
    fn by(&self) -> &'static str {
        match self {
            Self::ByPolicy(_) | Self::TooManyQuestions | Self::NotCalled => "policy",
            Self::ByUser => "user",
            Self::NoUserInterface => "none",
        }
    }
}

/// What was permitted.
#[derive(Debug)]
pub(crate) enum Permit {
    /// The action as it was requested.
    AsAsked,
    /// A call with these arguments instead.
    Edited(Box<RawValue>),
}

/// Decides about actions, and asks the user if necessary.
pub(crate) struct Consent {
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) grants: Grants,
    pub(crate) user: Option<Arc<dyn UserInterface>>,
    pub(crate) audit: Audit,
    /// Held while the user is asked: one question at a time, in the order of arrival.
    turn: Mutex<()>,
}

/// The server and the conversation that a decision is about.
#[derive(Clone, Copy)]
pub(crate) struct AskingServer<'a> {
    pub(crate) origin: &'a Origin,
    pub(crate) conversation: Option<ConversationId>,
}

impl AskingServer<'_> {
    fn who(&self) -> Requester {
        Requester {
            server: self.origin.id.clone(),
            calls_itself: self.origin.calls_itself(),
            conversation: self.conversation,
        }
    }
}

/// The decision of the policy and the grants.
enum Verdict {
    Allowed,
    Granted(&'static str),
    /// The user has to be asked.
    Open(Arc<dyn UserInterface>),
}

impl Consent {
    pub(crate) fn new(
        policy: Box<dyn Policy>,
        grants: Grants,
        user: Option<Arc<dyn UserInterface>>,
        audit: Audit,
    ) -> Self {
        Self {
            policy,
            grants,
            user,
            audit,
            turn: Mutex::new(()),
        }
    }

    /// Decides whether an action may happen. Asks the user if the policy says so.
    pub(crate) async fn permit(
        &self,
        asking: AskingServer<'_>,
        action: Action<'_>,
    ) -> Result<Permit, Denied> {
        if let Some(decided) = self.decided(asking, &action) {
            return decided;
        }
        let _turn = self.turn.lock().await;
        // The previous question may have been the same, or the policy may have changed meanwhile.
        if let Some(decided) = self.decided(asking, &action) {
            return decided;
        }
        let Some(user) = &self.user else {
            return Err(self.denied(asking, &action, Denied::NoUserInterface));
        };
        let question = self.question(asking, &action);
        match user.consent(&asking.who(), &question).await {
            ConsentAnswer::Allow(scope) => {
                self.remember(asking, &action, scope);
                Ok(self.allowed(asking, &action, "user", Some(scope)))
            }
            ConsentAnswer::AllowEdited(arguments) => self.edited(asking, &action, &arguments),
            ConsentAnswer::Deny => Err(self.denied(asking, &action, Denied::ByUser)),
        }
    }

    /// The decision without the user; `None` if the user has to be asked.
    fn decided(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
    ) -> Option<Result<Permit, Denied>> {
        match self.verdict(asking, action) {
            Ok(Verdict::Allowed) => Some(Ok(self.allowed(asking, action, "policy", None))),
            Ok(Verdict::Granted(by)) => Some(Ok(self.allowed(asking, action, by, None))),
            Ok(Verdict::Open(_)) => None,
            Err(denied) => Some(Err(self.denied(asking, action, denied))),
        }
    }

    fn question(&self, asking: AskingServer<'_>, action: &Action<'_>) -> ConsentQuestion {
        let mut question = ConsentQuestion::new(action, scopes(asking));
        let subject = action.subject();
        let key = key(asking, action, &subject);
        question.has_changed = self.grants.covered_before(asking.conversation, &key);
        question
    }

    /// The user allowed a call with changed arguments. The policy decides about the new arguments too.
    fn edited(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
        arguments: &JsonObject,
    ) -> Result<Permit, Denied> {
        let once = Some(Scope::Once);
        let (Action::Call { tool, .. }, Ok(arguments)) =
            (action, serde_json::value::to_raw_value(arguments))
        else {
            // Only calls have arguments.
            return Ok(self.allowed(asking, action, "user", once));
        };
        let edited = Action::Call {
            tool,
            arguments: Some(&arguments),
        };
        self.permit_again(asking, edited)?;
        self.allowed(asking, &edited, "user", once);
        Ok(Permit::Edited(arguments))
    }

    /// Whether the policy or a grant allows an action, so that the user need not be asked.
    pub(crate) fn is_granted(&self, asking: AskingServer<'_>, action: &Action<'_>) -> bool {
        !matches!(self.verdict(asking, action), Ok(Verdict::Open(_)) | Err(_))
    }

    /// Checks that the policy still allows an action that was allowed before. Used when an action
    /// is repeated without asking the user, such as the restart of a server.
    pub(crate) fn permit_again(
        &self,
        asking: AskingServer<'_>,
        action: Action<'_>,
    ) -> Result<(), Denied> {
        match self.decide(asking, &action) {
            Decision::Deny(reason) => Err(self.denied(asking, &action, Denied::ByPolicy(reason))),
            _ => Ok(()),
        }
    }

    /// Shows a form of a server to the user.
    pub(crate) async fn form(
        &self,
        asking: AskingServer<'_>,
        form: &ElicitRequestFormParams,
    ) -> Result<FormAnswer, Denied> {
        let action = Action::ShowForm { form };
        let user = self.may_show(asking, &action)?;
        let _turn = self.turn.lock().await;
        let answer = user.form(&asking.who(), form).await;
        let (outcome, names) = match &answer {
            FormAnswer::Accept(values) => ("accepted", values.keys().cloned().collect()),
            FormAnswer::Decline => ("declined", Vec::new()),
            FormAnswer::Cancel => ("cancelled", Vec::new()),
        };
        self.answered(asking, &action, outcome, names);
        Ok(answer)
    }

    /// Asks the user to visit a URL of a server.
    pub(crate) async fn visit(
        &self,
        asking: AskingServer<'_>,
        visit: &ElicitRequestUrlParams,
    ) -> Result<VisitAnswer, Denied> {
        let action = Action::ShowUrl { visit };
        let user = self.may_show(asking, &action)?;
        let _turn = self.turn.lock().await;
        let answer = user.visit(&asking.who(), VisitRequest::new(visit)).await;
        let outcome = match answer {
            VisitAnswer::Accept => "accepted",
            VisitAnswer::Decline => "declined",
            VisitAnswer::Cancel => "cancelled",
        };
        self.answered(asking, &action, outcome, Vec::new());
        Ok(answer)
    }

    /// Waits until the user says that they are done at a URL that they agreed to visit.
    pub(crate) async fn visit_done(
        &self,
        asking: AskingServer<'_>,
        visit: &ElicitRequestUrlParams,
    ) {
        let who = asking.who();
        match &self.user {
            Some(user) => user.visit_done(&who, VisitRequest::new(visit)).await,
            None => std::future::pending().await,
        }
    }

    /// The first check of sampling: returns the request that may be sent to the model.
    pub(crate) async fn review_prompt(
        &self,
        asking: AskingServer<'_>,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageRequestParams, Denied> {
        let action = Action::SendPrompt { request: &request };
        if self.needs_review(asking, &action)?.is_none() {
            return Ok(request);
        }
        let _turn = self.turn.lock().await;
        // The previous question may have been the same.
        let Some(user) = self.needs_review(asking, &action)? else {
            return Ok(request);
        };
        let review = user.review_prompt(&asking.who(), &request).await;
        match self.reviewed(asking, &action, review)? {
            Some(edited) => {
                let action = Action::SendPrompt { request: &edited };
                self.permit_again(asking, action)?;
                Ok(*edited)
            }
            None => Ok(request),
        }
    }

    /// The second check of sampling: returns the answer that may be sent to the server.
    pub(crate) async fn review_answer(
        &self,
        asking: AskingServer<'_>,
        answer: CreateMessageResult,
    ) -> Result<CreateMessageResult, Denied> {
        let action = Action::ReturnAnswer { answer: &answer };
        if self.needs_review(asking, &action)?.is_none() {
            return Ok(answer);
        }
        let _turn = self.turn.lock().await;
        let Some(user) = self.needs_review(asking, &action)? else {
            return Ok(answer);
        };
        let review = user.review_answer(&asking.who(), &answer).await;
        match self.reviewed(asking, &action, review)? {
            Some(edited) => {
                let action = Action::ReturnAnswer { answer: &edited };
                self.permit_again(asking, action)?;
                Ok(*edited)
            }
            None => Ok(answer),
        }
    }

    fn decide(&self, asking: AskingServer<'_>, action: &Action<'_>) -> Decision {
        self.policy.decide(&Request {
            server: &asking.origin.id,
            conversation: asking.conversation,
            action: *action,
        })
    }

    /// The decision of the policy and the grants.
    fn verdict(&self, asking: AskingServer<'_>, action: &Action<'_>) -> Result<Verdict, Denied> {
        match self.decide(asking, action) {
            Decision::Allow => return Ok(Verdict::Allowed),
            Decision::Deny(reason) => return Err(Denied::ByPolicy(reason)),
            Decision::Ask => {}
        }
        let subject = action.subject();
        let key = key(asking, action, &subject);
        if self.grants.covers(asking.conversation, &key) {
            return Ok(Verdict::Granted("grant"));
        }
        let approved = &asking.origin.approved_tools;
        if action.kind() == ActionKind::Call
            && approved.iter().any(|pattern| matches(pattern, &subject))
        {
            return Ok(Verdict::Granted("file"));
        }
        let user = self.user.clone().ok_or(Denied::NoUserInterface)?;
        Ok(Verdict::Open(user))
    }

    /// Returns the user interface if a form or URL may be shown. Showing it is asking, so `Ask` allows it.
    fn may_show(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
    ) -> Result<Arc<dyn UserInterface>, Denied> {
        let shown = match self.verdict(asking, action) {
            Ok(Verdict::Open(user)) => Ok(user),
            Ok(_) => self.user.clone().ok_or(Denied::NoUserInterface),
            Err(denied) => Err(denied),
        };
        shown.map_err(|denied| self.denied(asking, action, denied))
    }

    /// Returns the user interface if the user has to review a message to or from the model; `None`
    /// if the message may be sent without review.
    fn needs_review(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
    ) -> Result<Option<Arc<dyn UserInterface>>, Denied> {
        if let Ok(Verdict::Open(user)) = self.verdict(asking, action) {
            return Ok(Some(user));
        }
        self.decided(asking, action).transpose().map(|_| None)
    }

    fn reviewed<T>(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
        review: Review<T>,
    ) -> Result<Option<Box<T>>, Denied> {
        match review {
            Review::Accept(scope) => {
                self.remember(asking, action, scope);
                self.allowed(asking, action, "user", Some(scope));
                Ok(None)
            }
            Review::Edited(edited) => {
                self.answered(asking, action, "edited", Vec::new());
                Ok(Some(edited))
            }
            Review::Decline => Err(self.denied(asking, action, Denied::ByUser)),
        }
    }

    fn remember(&self, asking: AskingServer<'_>, action: &Action<'_>, scope: Scope) {
        let subject = action.subject();
        let key = key(asking, action, &subject);
        match (scope, asking.conversation) {
            (Scope::Conversation, Some(conversation)) => self.grants.allow_in(conversation, &key),
            (Scope::Always, _) => {
                if let Err(error) = self.grants.allow_always(&key) {
                    // The answer is valid for this action, and the user is asked again the next time.
                    let error = turnbuckle_base::error_chain::in_one_line(&error);
                    tracing::error!(error, "could not save a grant");
                }
            }
            (Scope::Once | Scope::Conversation, _) => {}
        }
    }

    fn allowed(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
        by: &'static str,
        scope: Option<Scope>,
    ) -> Permit {
        if self.audit.is_wanted() {
            let mut record = decision(asking, action).ended("allowed");
            record.by = Some(by);
            record.scope = scope.map(Scope::as_str);
            self.audit.write(&record);
        }
        Permit::AsAsked
    }

    /// Records that an action was denied.
    pub(crate) fn denied(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
        denied: Denied,
    ) -> Denied {
        if self.audit.is_wanted() {
            let mut record = decision(asking, action).ended("denied");
            record.by = Some(denied.by());
            self.audit.write(&record);
        }
        denied
    }

    fn answered(
        &self,
        asking: AskingServer<'_>,
        action: &Action<'_>,
        outcome: &'static str,
        names: Vec<String>,
    ) {
        if self.audit.is_wanted() {
            let mut record = decision(asking, action).ended(outcome);
            record.event = "answer";
            record.by = Some("user");
            record.names = names;
            self.audit.write(&record);
        }
    }
}

fn key<'a>(asking: AskingServer<'a>, action: &Action<'a>, subject: &'a str) -> GrantKey<'a> {
    let tool: Option<&Tool> = match action {
        Action::Call { tool, .. } => Some(tool),
        _ => None,
    };
    GrantKey {
        tool,
        server: &asking.origin.id,
        kind: action.kind(),
        subject,
        launch: asking.origin.fingerprint.as_deref(),
    }
}

fn decision(asking: AskingServer<'_>, action: &Action<'_>) -> AuditRecord {
    let arguments: Option<&RawValue> = match action {
        Action::Call { arguments, .. } => *arguments,
        _ => None,
    };
    AuditRecord::new("decision", &asking.origin.id, action.kind().as_str())
        .in_conversation(asking.conversation)
        .about(without_secrets(&action.subject()))
        .naming(arguments)
}

fn scopes(asking: AskingServer<'_>) -> Vec<Scope> {
    match asking.conversation {
        Some(_) => vec![Scope::Once, Scope::Conversation, Scope::Always],
        None => vec![Scope::Once, Scope::Always],
    }
}
