//! The actions that the user has allowed for a conversation, or until they are revoked.

use std::{collections::HashMap, path::PathBuf, time::SystemTime};

use turnbuckle_base::lock::{Mutex, RwLock};

use super::{
    Grant, GrantFileError,
    grant::GrantKey,
    grant_file::{self, Stamp},
};
use crate::{clock::rfc3339, id::ConversationId};

/// All grants of the user.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    file: Option<PathBuf>,
    /// The version of the file that `always` was read from. The lock is held while either changes,
    /// so that a revoked grant does not return from an older version.
    stamp: Mutex<Option<Stamp>>,
    always: RwLock<HashMap<String, Vec<Grant>>>,
    conversations: RwLock<HashMap<ConversationId, Vec<Grant>>>,
}

impl Grants {
    /// Opens grants that are kept in a file.
    pub(crate) fn open(file: PathBuf) -> Result<Self, GrantFileError> {
        let grants = Self {
            file: Some(file),
            ..Self::default()
        };
        grants.read_again()?;
        Ok(grants)
    }

    /// Whether a grant allows the action.
    pub(crate) fn covers(&self, conversation: Option<ConversationId>, key: &GrantKey<'_>) -> bool {
        let always = self.always.read();
        let is_always = always
            .get(key.server.as_str())
            .is_some_and(|grants| grants.iter().any(|grant| grant.is_for(key)));
        is_always
            || conversation.is_some_and(|conversation| {
                let conversations = self.conversations.read();
                let grants = conversations.get(&conversation).into_iter().flatten();
                grants.into_iter().any(|grant| grant.is_for(key))
            })
    }

    /// Whether the user has allowed a tool of this name with another definition.
    pub(crate) fn covered_before(
        &self,
        conversation: Option<ConversationId>,
        key: &GrantKey<'_>,
    ) -> bool {
        let is_before = |grant: &Grant| grant.is_about(key) && !grant.is_for(key);
        let always = self.always.read();
        let conversations = self.conversations.read();
        let in_conversation = conversation.and_then(|it| conversations.get(&it));
        always
            .get(key.server.as_str())
            .into_iter()
            .chain(in_conversation)
            .flatten()
            .any(is_before)
    }

    /// Allows an action until the conversation ends.
    pub(crate) fn allow_in(&self, conversation: ConversationId, key: &GrantKey<'_>) {
        let mut conversations = self.conversations.write();
        put(conversations.entry(conversation).or_default(), key);
    }

    /// Drops the grants of a conversation.
    pub(crate) fn end(&self, conversation: ConversationId) {
        self.conversations.write().remove(&conversation);
    }

    /// Allows an action until it is revoked.
    pub(crate) fn allow_always(&self, key: &GrantKey<'_>) -> Result<(), GrantFileError> {
        self.change(|grants| put(grants, key))
    }

    /// All grants that are valid until revoked, in the order of their servers.
    pub(crate) fn list(&self) -> Vec<Grant> {
        let mut all: Vec<Grant> = self.always.read().values().flatten().cloned().collect();
        all.sort_by(|one, other| {
            (&one.server, one.kind, &one.subject).cmp(&(&other.server, other.kind, &other.subject))
        });
        all
    }

    /// Revokes every grant for which `fits` returns true. Returns their number.
    pub(crate) fn revoke(
        &self,
        mut fits: impl FnMut(&Grant) -> bool,
    ) -> Result<usize, GrantFileError> {
        let mut count = 0;
        self.change(|grants| {
            let before = grants.len();
            grants.retain(|grant| !fits(grant));
            count = before - grants.len();
        })?;
        Ok(count)
    }

    /// Reads the file again if it has changed. If the file cannot be read, no grant is valid until
    /// it can: the user may have removed an entry.
    pub(crate) fn read_again(&self) -> Result<(), GrantFileError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut known = self.stamp.lock();
        let stamp = grant_file::stamp(file);
        if stamp.is_some() && *known == stamp {
            return Ok(());
        }
        let grants = grant_file::read(file).inspect_err(|_| {
            *known = None;
            self.keep(Vec::new());
        })?;
        *known = stamp;
        self.keep(grants);
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Grant>)) -> Result<(), GrantFileError> {
        let mut known = self.stamp.lock();
        let Some(file) = &self.file else {
            let mut grants = self.list();
            change(&mut grants);
            self.keep(grants);
            return Ok(());
        };
        let (grants, stamp) = grant_file::update(file, change)?;
        *known = stamp;
        self.keep(grants);
        Ok(())
    }

    fn keep(&self, grants: Vec<Grant>) {
        let mut by_server: HashMap<String, Vec<Grant>> = HashMap::new();
        for grant in grants {
            by_server
                .entry(grant.server.clone())
                .or_default()
                .push(grant);
        }
        *self.always.write() = by_server;
    }
}

/// Adds a grant. It replaces one for an earlier definition of the same tool.
fn put(grants: &mut Vec<Grant>, key: &GrantKey<'_>) {
    if grants.iter().any(|grant| grant.is_for(key)) {
        return;
    }
    grants.retain(|grant| !grant.is_about(key));
    grants.push(Grant {
        server: key.server.as_str().to_owned(),
        kind: key.kind,
        subject: key.subject.to_owned(),
        launch: key.launch.map(str::to_owned),
        tool: key.digest(),
        since: rfc3339(SystemTime::now()),
    });
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::Tool;

    use super::*;
    use crate::{consent::ActionKind, id::ServerId};

    fn key<'a>(server: &'a ServerId, subject: &'a str, launch: &'a str) -> GrantKey<'a> {
        GrantKey {
            server,
            kind: ActionKind::Call,
            subject,
            launch: Some(launch),
            tool: None,
        }
    }

    #[test]
    fn a_grant_is_for_a_tool_as_it_was_when_it_was_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().join("grants.toml")).unwrap();
        let git = ServerId::new("git");
        let tool = |about: &str| Tool::new("log", serde_json::Map::new()).with_description(about);
        let (first, second) = (tool("Shows commits"), tool("Shows commits and sends keys"));
        let key = |tool| GrantKey {
            tool: Some(tool),
            ..key(&git, "log", "a")
        };
        let conversation = ConversationId::next();
        grants.allow_always(&key(&first)).unwrap();
        grants.allow_in(conversation, &key(&first));
        for conversation in [None, Some(conversation)] {
            assert!(grants.covers(conversation, &key(&first)));
            assert!(!grants.covered_before(conversation, &key(&first)));
            assert!(!grants.covers(conversation, &key(&second)));
            assert!(grants.covered_before(conversation, &key(&second)));
        }
        // The new grant replaces the old one.
        grants.allow_always(&key(&second)).unwrap();
        assert!(grants.covers(None, &key(&second)));
        assert_eq!(grants.list().len(), 1);
        // An entry that a user wrote without a digest allows the tool whatever its definition.
        let file = folder.path().join("grants.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text
            .lines()
            .filter(|line| !line.starts_with("tool"))
            .collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
        let again = Grants::open(file).unwrap();
        assert!(again.covers(None, &key(&first)) && again.covers(None, &key(&second)));
    }

    #[test]
    fn a_grant_is_for_one_tool_of_one_server_as_it_was_launched() {
        let (git, other) = (ServerId::new("git"), ServerId::new("other"));
        let grants = Grants::default();
        grants.allow_always(&key(&git, "log", "a")).unwrap();
        assert!(grants.covers(None, &key(&git, "log", "a")));
        assert!(!grants.covers(None, &key(&git, "push", "a")));
        assert!(!grants.covers(None, &key(&other, "log", "a")));
        // The config now has another program under the same name.
        assert!(!grants.covers(None, &key(&git, "log", "b")));
    }

    #[test]
    fn a_grant_for_a_conversation_ends_with_it() {
        let git = ServerId::new("git");
        let (one, other) = (ConversationId::next(), ConversationId::next());
        let grants = Grants::default();
        grants.allow_in(one, &key(&git, "log", "a"));
        assert!(grants.covers(Some(one), &key(&git, "log", "a")));
        assert!(!grants.covers(Some(other), &key(&git, "log", "a")));
        assert!(!grants.covers(None, &key(&git, "log", "a")));
        grants.end(one);
        assert!(!grants.covers(Some(one), &key(&git, "log", "a")));
    }

    #[test]
    fn grants_are_kept_in_a_file_that_people_can_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("grants.toml");
        let git = ServerId::new("git \"quoted\" \u{7f}\n");
        let grants = Grants::open(file.clone()).unwrap();
        grants.allow_always(&key(&git, "log", "a")).unwrap();
        grants.allow_always(&key(&git, "push", "a")).unwrap();
        let again = Grants::open(file.clone()).unwrap();
        assert_eq!(again.list(), grants.list());
        assert!(again.covers(None, &key(&git, "push", "a")));
        // One grant is revoked.
        assert_eq!(again.revoke(|grant| grant.subject == "push").unwrap(), 1);
        grants.read_again().unwrap();
        assert!(!grants.covers(None, &key(&git, "push", "a")));
        assert!(grants.covers(None, &key(&git, "log", "a")));
        // The file is deleted.
        std::fs::remove_file(&file).unwrap();
        grants.read_again().unwrap();
        assert!(grants.list().is_empty());
    }

    #[test]
    fn nothing_is_granted_while_the_file_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("grants.toml");
        let git = ServerId::new("git");
        let grants = Grants::open(file.clone()).unwrap();
        grants.allow_always(&key(&git, "log", "a")).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}\n[[[")).unwrap();
        assert!(grants.read_again().is_err());
        assert!(!grants.covers(None, &key(&git, "log", "a")));
        std::fs::write(&file, text).unwrap();
        grants.read_again().unwrap();
        assert!(grants.covers(None, &key(&git, "log", "a")));
    }

    /// Memory and file must agree, whichever process changes the file and whenever it does so.
    #[test]
    fn changes_and_readings_at_the_same_time_end_with_what_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("grants.toml");
        let git = ServerId::new("git");
        let (one, other) = (
            Grants::open(file.clone()).unwrap(),
            Grants::open(file.clone()).unwrap(),
        );
        for _ in 0..50 {
            std::thread::scope(|scope| {
                scope.spawn(|| one.allow_always(&key(&git, "log", "a")).unwrap());
                scope.spawn(|| one.read_again().unwrap());
                scope.spawn(|| other.revoke(|_| true).unwrap());
            });
            for grants in [&one, &other] {
                grants.read_again().unwrap();
                let is_in_file = !grant_file::read(&file).unwrap().is_empty();
                assert_eq!(grants.covers(None, &key(&git, "log", "a")), is_in_file);
            }
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("grants.toml");
        for text in ["[[grant", "[[grant]]\nserver = \"a\"\nallow = \"fly\"\n"] {
            std::fs::write(&file, text).unwrap();
            let error = Grants::open(file.clone()).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            let grants = Grants {
                file: Some(file.clone()),
                ..Grants::default()
            };
            let git = ServerId::new("git");
            assert!(grants.allow_always(&key(&git, "log", "a")).is_err());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
