//! One catalog of several servers.

use std::collections::BTreeMap;

use serde_json::json;
use turnbuckle_host::{ActionKind, HostError, Problem, Rules};

use crate::program::{server, trusting, within};

#[tokio::test]
async fn one_server_has_its_own_names_and_several_are_told_apart() {
    let host = trusting().server("first", server(&[])).open().await;
    within("start", host.ready()).await;
    assert!(host.catalog().tool("echo").is_some());
    let before = host.catalog();
    host.add("second", server(&["--name", "other"])).await;
    within("start", host.ready()).await;
    let catalog = within("the new catalog", host.catalog_after(&before)).await;
    assert!(catalog.tool("echo").is_none());
    for name in ["first__echo", "second__echo"] {
        let output = within("a call", host.call(name, json!({"text": name}))).await;
        assert_eq!(output.unwrap().text(), name);
    }
    let error = within("the answer", host.call("first__ecko", ()))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("first__echo"), "{error}");
    host.close().await;
}

#[tokio::test]
async fn a_list_that_changes_is_read_again() {
    let host = trusting().server("growing", server(&[])).open().await;
    within("start", host.ready()).await;
    let mut catalog = host.catalog();
    assert!(catalog.tool("extra_0").is_none());
    within("a call", host.call("grow", ())).await.unwrap();
    while catalog.tool("extra_0").is_none() {
        catalog = within("the change", host.catalog_after(&catalog)).await;
    }
    // The text of the entry is exactly what the server wrote.
    let tool = catalog.tool("extra_0").unwrap();
    assert!(
        tool.text()
            .starts_with(r#"{"name": "extra_0", "description""#),
        "{}",
        tool.text()
    );
    host.close().await;
}

#[tokio::test]
async fn what_is_filtered_or_denied_is_neither_listed_nor_called() {
    let rules = Rules::new()
        .trust("*")
        .deny(ActionKind::Call, "*", "hang", "nothing hangs here");
    let host = trusting()
        .policy(rules)
        .server("only", server(&[]).exclude_tools(["d*"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let catalog = host.catalog();
    assert!(catalog.tool("echo").is_some());
    for name in ["die", "hang"] {
        assert!(catalog.tool(name).is_none(), "{name}");
        let error = within("the answer", host.call(name, ())).await;
        assert!(matches!(error, Err(HostError::Unknown { .. })), "{error:?}");
    }
    host.close().await;
}

#[tokio::test]
async fn a_broken_entry_is_left_out_and_reported() {
    let host = trusting()
        .server("broken", server(&["--mode", "broken-list"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let catalog = host.catalog();
    let names: Vec<_> = catalog.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["good"]);
    let reported = catalog.problems().len();
    assert_eq!(reported, 2, "{:?}", catalog.problems());
    host.close().await;
}

#[tokio::test]
async fn a_list_without_end_is_cut_off_and_reported_in_few_lines() {
    let host = trusting()
        .server("heavy", server(&["--mode", "heavy-list"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let catalog = host.catalog();
    assert_eq!(catalog.tools().len(), 8);
    let problems: Vec<_> = catalog.problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 52, "{problems:?}");
    assert!(
        problems[50].contains("more problems like these")
            && problems[51].contains("bytes of tools"),
        "{problems:?}"
    );
    host.close().await;
}

#[tokio::test]
async fn resources_and_prompts_are_found_at_their_servers() {
    let host = trusting()
        .server("a", server(&["--name", "a"]))
        .server("b", server(&["--name", "b"]))
        .server("twin", server(&["--name", "b"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let catalog = host.catalog();
    for (uri, owner) in [
        ("test://a/notes", Some("a")),
        ("test://b/page/7", Some("b")),
        ("test://unlisted", None),
        ("other://a", None),
    ] {
        assert_eq!(
            catalog.owner(uri).map(turnbuckle_host::ServerId::as_str),
            owner,
            "{uri}"
        );
    }
    assert!(catalog.problems().iter().any(|problem| {
        matches!(problem, Problem::SameUri { first, second, .. } if first.as_str() == "b" && second.as_str() == "twin")
    }));
    let read = within("a read", host.read("test://b/page/7"))
        .await
        .unwrap();
    assert_eq!(read.contents.len(), 1);
    let error = within("the answer", host.read("other://a")).await;
    assert!(matches!(error, Err(HostError::NoOwner { .. })));

    let arguments = BTreeMap::from([("language".to_owned(), "Rust".to_owned())]);
    let prompt = within("a prompt", host.get_prompt("a__review", &arguments)).await;
    assert_eq!(prompt.unwrap().messages.len(), 1);
    let nothing = BTreeMap::new();
    let completing = host.complete_prompt("a__review", "language", "ru", &nothing);
    let completion = within("the completion", completing).await.unwrap();
    assert_eq!(completion.values, ["rust", "ruby"]);
    host.close().await;
}

#[tokio::test]
async fn resources_are_searched_by_what_people_type() {
    let host = trusting()
        .server("a", server(&["--name", "a"]))
        .open()
        .await;
    within("start", host.ready()).await;
    let catalog = host.catalog();
    let found = |query: &str| -> Vec<String> {
        let found = catalog.search_resources(query);
        found.iter().map(|it| it.resource().name.clone()).collect()
    };
    assert_eq!(found("notes"), ["notes", "poster"]);
    assert_eq!(found("POST"), ["poster"]);
    assert_eq!(found("nothing like it"), [""; 0]);
    assert_eq!(found(""), ["notes", "poster"]);
    let notes = catalog.resource("test://a/notes").unwrap();
    assert_eq!(notes.estimated_tokens(), Some(100));
    assert!(notes.is_for_model());
    let poster = catalog.resource("test://a/notes-for-people").unwrap();
    assert!(!poster.is_for_model());
    assert_eq!(poster.estimated_tokens(), None);
    host.close().await;
}
