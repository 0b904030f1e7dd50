//! Passes on messages of servers that belong to no call.

use std::sync::Arc;

use turnbuckle_host::ServerId;

use super::{Core, list_news::ChangedList};
use crate::{operation::is_part_of, upstream::LaneNews};

impl Core {
    /// Notifies all clients that each list may have changed.
    pub(crate) fn lists_changed(&self) {
        for list in [
            ChangedList::Tools,
            ChangedList::Prompts,
            ChangedList::Resources,
        ] {
            self.list_news.tell(list);
        }
    }

    /// Passes a message from a session of a server to the clients that it concerns.
    pub(crate) fn tell(&self, server: &ServerId, news: LaneNews) {
        let Some(changes) = self.changes.get() else {
            return;
        };
        let Some(member) = self.member(server) else {
            return;
        };
        if matches!(
            news,
            LaneNews::Tools | LaneNews::Prompts | LaneNews::Resources
        ) {
            // The merged lists are read in another session, which may not be notified, so read them
            // again. Clients are notified if the lists differ. If the lists of the only server are
            // passed on, clients read them themselves.
            member.upstream.reread_lists();
            if !self.passes_lists() {
                return;
            }
        }
        match news {
            LaneNews::Visited(id) => changes.elicitation_completed(id),
            LaneNews::Tools => self.list_news.tell(ChangedList::Tools),
            LaneNews::Prompts => self.list_news.tell(ChangedList::Prompts),
            LaneNews::Resources => self.list_news.tell(ChangedList::Resources),
            LaneNews::Updated { uri, params } => {
                let concerned = concerned(&uri, &member.upstream.followed());
                let concerned: Vec<String> = concerned.iter().map(ToString::to_string).collect();
                if !concerned.is_empty() {
                    changes.pass_on_update(concerned, &params);
                }
            }
        }
    }
}

/// The followed resources that a changed URI concerns (G12): the resource itself, otherwise those
/// whose URI is a prefix of it, otherwise all of them, because a server may choose URIs of parts
/// freely.
fn concerned(changed: &str, followed: &[Arc<str>]) -> Vec<Arc<str>> {
    if let Some(same) = followed.iter().find(|uri| &***uri == changed) {
        return vec![Arc::clone(same)];
    }
    let wholes: Vec<_> = followed
        .iter()
        .filter(|uri| is_part_of(uri, changed))
        .cloned()
        .collect();
    if wholes.is_empty() {
        return followed.to_vec();
    }
    wholes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_resource_concerns_those_who_follow_the_whole() {
        let followed: Vec<Arc<str>> = ["a:x", "a:x/y", "a:z/", "a:xy"].map(Arc::from).to_vec();
        let concerned = |uri: &str| {
            let all = concerned(uri, &followed);
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(concerned("a:x"), ["a:x"]);
        assert_eq!(concerned("a:x/y#1"), ["a:x", "a:x/y"]);
        assert_eq!(concerned("a:z/1"), ["a:z/"]);
        assert_eq!(concerned("b:1").len(), 4);
    }
}
