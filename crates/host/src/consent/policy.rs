//! `Policy`: decides about every action of the host.

use super::{Action, ActionKind, Request};
use crate::fleet::matches;

/// The decision of a [`Policy`] about an action, returned by [`Policy::decide`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The action is allowed without asking. A form or a URL of a server is still shown to the
    /// user, who answers it.
    Allow,
    /// The action is denied. The reason is for the user, and for the model if a tool was called.
    Deny(String),
    /// The user decides: by a grant that was given before, or by answering a question. Without a
    /// user interface the action is denied.
    Ask,
}

impl Decision {
    /// Whether the decision is [`Deny`](Self::Deny). The catalog leaves out tools that are denied.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Deny(_))
    }
}

/// Decides about the actions of the host. The host asks it before every action that
/// [`Action`](crate::Action) lists.
///
/// Use [`Rules`] for a policy by kind, server and subject. Any function from a
/// [`Request`](crate::Request) to a [`Decision`] is a policy too. It must be quick and must not
/// block, because it runs inside each call.
///
/// ```
/// use turnbuckle_host::{ActionKind, Decision, Host, Request};
///
/// let builder = Host::builder("my-app", "1.0.0").policy(|request: &Request<'_>| {
///     match request.action.kind() {
///         ActionKind::Start | ActionKind::Read => Decision::Allow,
///         ActionKind::SendPrompt => Decision::Deny("sampling is switched off".into()),
///         _ => Decision::Ask,
///     }
/// });
/// # drop(builder);
/// ```
pub trait Policy: Send + Sync + 'static {
    /// Decides about one request. The host calls it for each action, for each tool when the catalog
    /// is made, and again before the user is asked. It should therefore return the same decision
    /// for the same request and have no side effects.
    fn decide(&self, request: &Request<'_>) -> Decision;
}

impl<F> Policy for F
where
    F: Fn(&Request<'_>) -> Decision + Send + Sync + 'static,
{
    fn decide(&self, request: &Request<'_>) -> Decision {
        self(request)
    }
}

/// A policy made of rules by kind of action, server and subject.
///
/// If several rules match, denying wins over asking, and asking over allowing; the order of the
/// rules does not matter. If no rule matches, the user is asked, except for actions that are
/// harmless by themselves: reading a resource and getting a prompt that the application asks for,
/// and showing a form or a URL of a server, which the user answers anyway.
///
/// ```
/// use turnbuckle_host::{ActionKind, Rules};
///
/// let rules = Rules::new()
///     .allow(ActionKind::Start, "git", "*")
///     .allow(ActionKind::Call, "git", "git_*")
///     .ask(ActionKind::Call, "git", "git_commit")
///     .deny(ActionKind::Call, "*", "*delete*", "nothing is deleted here");
/// # let _ = rules;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    kind: ActionKind,
    server: String,
    subject: String,
    decision: Decision,
}

impl Rules {
    /// Makes a policy without rules. It asks the user before servers are started, tools are called,
    /// roots are shared and sampling requests are sent to models. Resources that the application
    /// itself reads are allowed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows an action without asking, for servers and subjects that match. `*` matches any text,
    /// also in the middle of a pattern; matching is case-sensitive. The subject is what
    /// [`Action::subject`](crate::Action::subject) returns: for a call, the tool's name at its
    /// server, without the prefix of the host.
    pub fn allow(self, kind: ActionKind, server: &str, subject: &str) -> Self {
        self.with(kind, server, subject, Decision::Allow)
    }

    /// Asks the user about an action, even if another rule allows it. Use it for exceptions from a
    /// broad [`allow`](Self::allow). A grant of the user answers the question.
    pub fn ask(self, kind: ActionKind, server: &str, subject: &str) -> Self {
        self.with(kind, server, subject, Decision::Ask)
    }

    /// Denies an action, whatever other rules and grants say. The reason is shown to the user, and
    /// to the model if a tool was called. Tools that are denied are left out of the catalog.
    pub fn deny(
        self,
        kind: ActionKind,
        server: &str,
        subject: &str,
        reason: impl Into<String>,
    ) -> Self {
        self.with(kind, server, subject, Decision::Deny(reason.into()))
    }

    /// Allows all actions of servers that match: starting them, their tools, questions and
    /// sampling. Use it only for servers that the application itself provides. [`deny`](Self::deny)
    /// and [`ask`](Self::ask) make exceptions.
    pub fn trust(self, server: &str) -> Self {
        ActionKind::ALL
            .into_iter()
            .fold(self, |rules, kind| rules.allow(kind, server, "*"))
    }

    fn with(mut self, kind: ActionKind, server: &str, subject: &str, decision: Decision) -> Self {
        self.rules.push(Rule {
            kind,
            server: server.to_owned(),
            subject: subject.to_owned(),
            decision,
        });
        self
    }
}

impl Policy for Rules {
    fn decide(&self, request: &Request<'_>) -> Decision {
        let kind = request.action.kind();
        let mut decided: Option<&Decision> = None;
        if !self.rules.is_empty() {
            let subject = request.action.subject();
            for rule in &self.rules {
                let fits = rule.kind == kind
                    && matches(&rule.server, request.server.as_str())
                    && matches(&rule.subject, &subject);
                if !fits {
                    continue;
                }
                match (&rule.decision, decided) {
                    (Decision::Deny(_), _) => return rule.decision.clone(),
                    (_, Some(Decision::Ask)) => {}
                    (decision, _) => decided = Some(decision),
                }
            }
        }
        match decided {
            Some(decision) => decision.clone(),
            None => default(&request.action),
        }
    }
}

fn default(action: &Action<'_>) -> Decision {
    match action.kind() {
        ActionKind::Read | ActionKind::GetPrompt | ActionKind::ShowForm | ActionKind::ShowUrl => {
            Decision::Allow
        }
        _ => Decision::Ask,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use turnbuckle_protocol::{Tool, ToolAnnotations};

    use super::*;
    use crate::id::ServerId;

    fn decide(rules: &Rules, server: &str, tool: &Tool) -> Decision {
        rules.decide(&Request {
            server: &ServerId::new(server),
            conversation: None,
            action: Action::Call {
                tool,
                arguments: None,
            },
        })
    }

    #[test]
    fn a_denial_counts_before_a_question_and_a_question_before_permission() {
        let rules = Rules::new()
            .deny(ActionKind::Call, "*", "drop", "no")
            .ask(ActionKind::Call, "git", "push")
            .allow(ActionKind::Call, "git", "*")
            .allow(ActionKind::Start, "other", "*");
        for (server, tool, wanted) in [
            ("git", "log", Decision::Allow),
            ("git", "push", Decision::Ask),
            ("git", "drop", Decision::Deny("no".to_owned())),
            ("other", "drop", Decision::Deny("no".to_owned())),
            ("other", "log", Decision::Ask),
        ] {
            let tool = Tool::new(tool, Map::default());
            assert_eq!(
                decide(&rules, server, &tool),
                wanted,
                "{server} {}",
                tool.name
            );
        }
    }

    #[test]
    fn hints_of_a_server_are_no_consent() {
        let hints = ToolAnnotations::new()
            .with_read_only_hint(true)
            .with_destructive_hint(false);
        let tool = Tool::new("harmless", Map::default()).with_annotations(hints);
        assert_eq!(decide(&Rules::new(), "any", &tool), Decision::Ask);
    }

    #[test]
    fn only_what_is_harmless_by_itself_is_not_asked_about() {
        let id = ServerId::new("a");
        let decide = |action| {
            Rules::new().decide(&Request {
                server: &id,
                conversation: None,
                action,
            })
        };
        assert_eq!(decide(Action::Start { launch: "x" }), Decision::Ask);
        assert_eq!(decide(Action::Read { uri: "a:b" }), Decision::Allow);
        assert_eq!(decide(Action::GetPrompt { prompt: "p" }), Decision::Allow);
        assert_eq!(decide(Action::ShareContext { servers: &[] }), Decision::Ask);
    }
}
