//! What is allowed without asking in this chat.

use std::{fmt, sync::Arc};

use turnbuckle::host::{ActionKind, Decision, Policy, Request, Rules};
use turnbuckle_base::lock::RwLock;
use turnbuckle_command_line::failure::{Failed, Outcome};

/// What is allowed without asking: by the command line, and by `/allow`. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Allowed(Arc<RwLock<Rules>>);

/// Something that is allowed.
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
                Failed::usage(format!("`{text}` names no server or no tool"))
                    .hint("write SERVER/TOOL, such as `git/git_log` or `git/*`"),
            );
        }
        Ok(Self {
            kind,
            server: server.to_owned(),
            subject: subject.to_owned(),
        })
    }

    /// Whether a grant is meant by it.
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
        let mut rules = self.0.write();
        let Permission {
            kind,
            server,
            subject,
        } = permission;
        *rules = std::mem::take(&mut *rules).allow(*kind, server, subject);
    }

    /// Lets a server start: naming it on the command line is consent to that.
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
        self.0.read().decide(request)
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
}
