//! Roots that users share and withdraw, and resources as context.

use std::fs;

use turnbuckle_host::{
    ActionKind, ConsentAnswer, Conversation, HostError, ResourceUpdate, Rules, Scope,
    protocol::Root,
};

use crate::{
    person::{Person, shared},
    program::{server, trusting, within},
};

// rule: O1
#[tokio::test]
async fn a_root_is_seen_while_it_is_allowed_and_there() {
    let folder = tempfile::tempdir().unwrap();
    let (record, place) = (folder.path().join("record"), folder.path().join("place"));
    fs::create_dir(&place).unwrap();
    let root = Root::new(format!("file://{}", place.display()));
    let host = trusting()
        .server("only", server(&["--record", record.to_str().unwrap()]))
        .open()
        .await;
    within("start", host.ready()).await;
    let seen = async || {
        let output = within("a call", host.call("roots", ())).await.unwrap();
        output.text().contains("place")
    };
    let told = || {
        let heard = fs::read_to_string(&record).unwrap();
        heard.matches("notifications/roots/list_changed").count()
    };
    let until_told = async |times: usize| {
        within("the notification", async {
            while told() < times {
                tokio::task::yield_now().await;
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await;
    };
    assert!(!seen().await);
    within("the consent", host.share_root("only", root.clone()))
        .await
        .unwrap();
    until_told(1).await;
    assert!(seen().await);
    // The folder is removed and made again.
    fs::remove_dir(&place).unwrap();
    until_told(2).await;
    assert!(!seen().await);
    fs::create_dir(&place).unwrap();
    until_told(3).await;
    assert!(seen().await);
    assert!(host.unshare_root("only", &root.uri));
    until_told(4).await;
    assert!(!seen().await);
    host.close().await;
}

#[tokio::test]
async fn a_root_ends_with_its_grant() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(format!("file://{}", folder.path().display()));
    let person = shared(Person::who(ConsentAnswer::Allow(Scope::Always)));
    let host = trusting()
        .policy(Rules::new().allow(ActionKind::Start, "*", "*"))
        .user(person)
        .server("only", server(&[]).root(root.clone()))
        .open()
        .await;
    within("start", host.ready()).await;
    assert_eq!(host.roots_of("only"), [root]);
    assert_eq!(host.revoke(|_| true).unwrap(), 1);
    within("the end of the root", async {
        while !host.roots_of("only").is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    host.close().await;
}

// rule: HC2
#[tokio::test]
async fn a_root_needs_consent() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(format!("file://{}", folder.path().display()));
    let rules = || {
        Rules::new()
            .allow(ActionKind::Start, "*", "*")
            .allow(ActionKind::Call, "*", "*")
    };
    for (answer, count) in [
        (ConsentAnswer::Deny, 0),
        (ConsentAnswer::Allow(Scope::Once), 1),
    ] {
        let person = shared(Person::who(answer));
        let host = trusting()
            .policy(rules())
            .user(person.clone())
            .server("only", server(&[]).root(root.clone()))
            .open()
            .await;
        within("start", host.ready()).await;
        assert_eq!(host.roots_of("only").len(), count);
        assert_eq!(person.heard(), [format!("root {}", root.uri)]);
        let shared = within(
            "the question",
            host.share_root("only", Root::new("file:///tmp")),
        )
        .await;
        assert_eq!(matches!(shared, Err(HostError::Denied { .. })), count == 0);
        host.close().await;
    }
}

/// Reads the context until nothing in it is out of date: while streams are being opened, a change
/// may be reported at any moment.
async fn read_until_fresh(conversation: &Conversation) {
    while conversation.context(1_000).await[0].is_stale() {}
}

#[tokio::test]
async fn an_attached_resource_is_read_again_when_it_changes() {
    let host = trusting()
        .server("only", server(&["--name", "a"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let conversation = host.conversation();
    let notes = within("a read", conversation.attach("test://a/notes"))
        .await
        .unwrap();
    assert_eq!(notes.text(), "contents of test://a/notes");
    assert!((notes.priority - 0.9).abs() < f64::EPSILON);
    within("a read", conversation.attach("test://a/notes-for-people"))
        .await
        .unwrap();
    let chosen = within("the context", conversation.context(1_000)).await;
    let uris: Vec<_> = chosen.iter().map(|it| &*it.uri).collect();
    assert_eq!(uris, ["test://a/notes"]);

    let mut updates = host.follow("test://a/notes").unwrap();
    // A follower first gets a change, because earlier changes are unknown.
    let update = within("the first update", updates.next()).await;
    assert_eq!(update, Some(ResourceUpdate::Changed));
    within("a fresh reading", read_until_fresh(&conversation)).await;
    within("a call", host.call("touch", ())).await.unwrap();
    // Each opening of the stream reports a change too, so this one may not come from the call.
    within("the mark", async {
        while !conversation.attachments()[0].is_stale() {
            updates.next().await;
        }
    })
    .await;
    within("a fresh reading", read_until_fresh(&conversation)).await;
    assert!(conversation.detach("test://a/notes"));
    assert_eq!(conversation.attachments().len(), 1);
    host.close().await;
}
