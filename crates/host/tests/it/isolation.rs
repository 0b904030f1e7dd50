//! A server never learns of other servers, of their roots, or of messages to them. The tests check
//! this on the wire: each server writes down every line that it receives.

use std::{collections::HashMap, fs, path::Path};

use serde_json::json;
use turnbuckle_host::{
    ActionKind, ConsentAnswer, InheritedVariables, Review, Rules, SamplingError, SamplingRequest,
    Scope, ServerSpec,
    config::Launch,
    protocol::{CreateMessageResult, Root},
};

use crate::{
    person::{Person, shared},
    program::{arguments, server, trusting, within},
};

fn root(folder: &Path) -> Root {
    Root::new(format!("file://{}", folder.display()))
}

async fn model(request: SamplingRequest) -> Result<CreateMessageResult, SamplingError> {
    let count = request.params.messages.len();
    Ok(CreateMessageResult::new(
        "test-model",
        format!("{count} messages"),
    ))
}

// rule: HC4
#[tokio::test]
async fn no_server_hears_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (red_root, blue_root) = (place("red-root"), place("blue-root"));
    let record = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (red_record, blue_record) = (record("red-record"), record("blue-record"));
    let mut person = Person::who(ConsentAnswer::Allow(Scope::Once));
    person.prompt = Review::Accept(Scope::Once);
    person.answer = Review::Accept(Scope::Once);
    let red = server(&["--name", "crimson", "--record", &red_record]);
    let blue = server(&["--name", "azure", "--record", &blue_record]);
    let host = trusting()
        .user(shared(person))
        .model(model)
        .server("red", red.root(root(&red_root)))
        .server("blue", blue.root(root(&blue_root)))
        .open()
        .await;
    within("start", host.ready()).await;
    let conversation = host.conversation();
    for name in ["red", "blue"] {
        let text = format!("the business of {name}");
        let tool = |tool: &str| format!("{name}__{tool}");
        within(
            "a call",
            conversation.call(tool("echo"), json!({"text": text})),
        )
        .await
        .unwrap();
        for asking in ["roots", "fill"] {
            within("a call", conversation.call(tool(asking), ()))
                .await
                .unwrap();
        }
    }
    within("a read", conversation.attach("test://crimson/notes"))
        .await
        .unwrap();
    // The other server requests the context of its own server only, which does not include the attachment.
    let own = json!({"context": "thisServer"});
    let output = within("a call", conversation.call("blue__sample", own)).await;
    assert!(output.unwrap().text().contains("1 messages"));
    host.close().await;

    let heard = |record: &str| fs::read_to_string(record).unwrap();
    let (red, blue) = (heard(&red_record), heard(&blue_record));
    assert!(red.contains("red-root") && blue.contains("blue-root"));
    assert!(red.contains("the business of red") && blue.contains("the business of blue"));
    for (mine, foreign) in [
        (&red, ["blue", "azure", "the business of blue"]),
        (&blue, ["red-", "crimson", "the business of red"]),
    ] {
        for word in foreign {
            assert!(!mine.contains(word), "`{word}` in {mine}");
        }
    }
    // Prefixed names are used only within the host.
    assert!(!red.contains("red__") && !blue.contains("blue__"));
}

// rule: HC2, HC4
#[tokio::test]
async fn context_of_other_servers_goes_to_the_model_only_with_consent() {
    let rules = || {
        Rules::new()
            .allow(ActionKind::Start, "*", "*")
            .allow(ActionKind::Call, "*", "*")
            .allow(ActionKind::SendPrompt, "*", "*")
            .allow(ActionKind::ReturnAnswer, "*", "*")
    };
    for (rules, wanted) in [
        (rules(), "1 messages"),
        (
            rules().deny(ActionKind::ShareContext, "*", "*", "no"),
            "1 messages",
        ),
        (
            rules().allow(ActionKind::ShareContext, "blue", "red"),
            "2 messages",
        ),
    ] {
        let host = trusting()
            .policy(rules)
            .model(model)
            .server("red", server(&["--name", "crimson"]))
            .server("blue", server(&["--name", "azure"]))
            .open()
            .await;
        within("start", host.ready()).await;
        let conversation = host.conversation();
        within("a read", conversation.attach("test://crimson/notes"))
            .await
            .unwrap();
        let all = json!({"context": "allServers"});
        let output = within("a call", conversation.call("blue__sample", all))
            .await
            .unwrap();
        assert!(output.text().contains(wanted), "{}", output.text());
        // Another conversation sees none of the attachments.
        let other = host.conversation();
        let all = json!({"context": "allServers"});
        let output = within("a call", other.call("blue__sample", all))
            .await
            .unwrap();
        assert!(output.text().contains("1 messages"), "{}", output.text());
        host.close().await;
    }
}

/// This test inherits variables that Cargo sets for tests of the package.
#[tokio::test]
async fn a_server_inherits_what_it_may_and_has_what_its_entry_sets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("environment");
    let own = "CARGO_PKG_NAME";
    assert!(std::env::var_os(own).is_some() && std::env::var_os("CARGO_PKG_VERSION").is_some());
    let spec = ServerSpec::from(Launch::Command {
        program: "python3".to_owned(),
        arguments: arguments(&["--environment", file.to_str().unwrap()]),
        environment: vec![(own.to_owned(), "of the entry".to_owned())],
        folder: None,
    });
    let host = trusting()
        .inherit(InheritedVariables::default().except(["CARGO_PKG_*"]))
        .server("one", spec)
        .open()
        .await;
    within("start", host.ready()).await;
    host.close().await;
    let written = fs::read_to_string(file).unwrap();
    let variables: HashMap<String, String> = serde_json::from_str(&written).unwrap();
    assert_eq!(variables.get(own).unwrap(), "of the entry");
    assert!(
        !variables.contains_key("CARGO_PKG_VERSION"),
        "{variables:?}"
    );
    assert!(variables.contains_key("PATH"), "{variables:?}");
}
