//! Permissions of this chat, for actions that need no question.

use std::{fmt, sync::Arc};

use turnbuckle::host::{ActionKind, Decision, Policy, Request, Rules};
use turnbuckle_base::lock::RwLock;
use turnbuckle_command_line::failure::{Failed, Outcome};

/// The actions that are allowed without asking, by the command line and by `/allow`. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Allowed(Arc<RwLock<Permissions>>);

#[derive(Default)]
struct Permissions {
    list: Vec<Permission>,
    /// Compiled from the list.
    rules: Rules,
}

impl Permissions {
    fn change(&mut self, change: impl FnOnce(&mut Vec<Permission>)) {
        change(&mut self.list);
        self.rules = self.list.iter().fold(Rules::new(), |rules, permission| {
            rules.allow(permission.kind, &permission.server, &permission.subject)
        });
    }
}

/// A permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permission {
    kind: ActionKind,
    server: String,
    subject: String,
}

impl Permission {
    /// Reads `SERVER/TOOL` or `ACTION:SERVER/SUBJECT`.
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let (kind, rest) = match text.split_once(':') {
            Some((word, rest)) if !word.contains('/') => {
                let kind = ActionKind::parse(word).ok_or_else(|| {
                    let words: Vec<_> = ActionKind::ALL.iter().map(|kind| kind.as_str()).collect();
                    Failed::usage(format!("`{word}` is not an action"))
                        .hint(format!("the actions are {}", words.join(", ")))
                })?;
                (kind, rest)
            }
            _ => (ActionKind::Call, text),
        };
        let (server, subject) = rest.split_once('/').unwrap_or((rest, "*"));
        if server.is_empty() || subject.is_empty() {
            return Err(
                Failed::usage(format!("`{text}` lacks the server or the tool"))
                    .hint("write SERVER/TOOL, such as `git/git_log` or `git/*`"),
            );
        }
        Ok(Self {
            kind,
            server: server.to_owned(),
            subject: subject.to_owned(),
        })
    }

    /// Whether a grant is one of those that this permission names.
    pub(super) fn fits(&self, kind: ActionKind, server: &str, subject: &str) -> bool {
        let fits = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        self.kind == kind && fits(&self.server, server) && fits(&self.subject, subject)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.kind, self.server, self.subject)
    }
}

impl Allowed {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let allowed = Self::default();
        for word in words {
            allowed.add(&Permission::parse(word)?);
        }
        Ok(allowed)
    }

    pub(super) fn add(&self, permission: &Permission) {
        self.0.write().change(|list| {
            if !list.contains(permission) {
                list.push(permission.clone());
            }
        });
    }

    /// All permissions.
    pub(super) fn list(&self) -> Vec<Permission> {
        self.0.read().list.clone()
    }

    /// Removes the permissions that this one names. Returns how many there were.
    pub(super) fn remove(&self, named: &Permission) -> usize {
        let mut permissions = self.0.write();
        let before = permissions.list.len();
        permissions.change(|list| {
            list.retain(|it| !named.fits(it.kind, &it.server, &it.subject));
        });
        before - permissions.list.len()
    }

    /// Allows a server to start: naming it on the command line is consent.
    pub(super) fn start(&self, server: &str) {
        self.add(&Permission {
            kind: ActionKind::Start,
            server: server.to_owned(),
            subject: "*".to_owned(),
        });
    }
}

impl Policy for Allowed {
    fn decide(&self, request: &Request<'_>) -> Decision {
        self.0.read().rules.decide(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_read() {
        for (text, wanted) in [
            ("git/git_log", "call:git/git_log"),
            ("git", "call:git/*"),
            ("*", "call:*/*"),
            ("sample:git", "sample:git/*"),
            ("read:files/file:///a", "read:files/file:///a"),
        ] {
            assert_eq!(Permission::parse(text).unwrap().to_string(), wanted);
        }
        for text in ["", "git/", "/x", "fly:git"] {
            assert!(Permission::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_allowed_can_be_taken_back() {
        let words = ["git/log", "git/push", "start:git"].map(str::to_owned);
        let allowed = Allowed::parse(&words).unwrap();
        let left = |allowed: &Allowed| -> Vec<String> {
            allowed.list().iter().map(ToString::to_string).collect()
        };
        assert_eq!(allowed.remove(&Permission::parse("other/*").unwrap()), 0);
        assert_eq!(allowed.remove(&Permission::parse("git/log").unwrap()), 1);
        assert_eq!(left(&allowed), ["call:git/push", "start:git/*"]);
        assert_eq!(allowed.remove(&Permission::parse("git").unwrap()), 1);
        assert_eq!(left(&allowed), ["start:git/*"]);
    }
}
