//! Lists: all pages, or a stream of entries.

use std::pin::pin;

use futures_core::Stream;
use serde_json::json;
use turnbuckle_client::{CallError, Connection, protocol::Revision};

use crate::script::{Server, meet, plain};

fn tool(name: &str) -> serde_json::Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// Serves pages. Each has the expected cursor of the request, its tools, and the cursor of the next
/// page.
async fn serve(server: &mut Server, pages: &[(Option<&str>, &[&str], Option<&str>)]) {
    for (cursor, names, next) in pages {
        let heard = server.expect(json!({"method": "tools/list"})).await;
        assert_eq!(
            heard["params"]
                .get("cursor")
                .and_then(|cursor| cursor.as_str()),
            *cursor
        );
        let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        let mut page = json!({"tools": tools});
        if let Some(next) = next {
            page["nextCursor"] = (*next).into();
        }
        server.answer(page).await;
    }
}

async fn names(connection: &Connection) -> Result<Vec<String>, CallError> {
    Ok(connection
        .tools()
        .await?
        .into_iter()
        .map(|tool| tool.name)
        .collect())
}

// rule: RS6
#[tokio::test(start_paused = true)]
async fn all_pages_are_fetched_at_every_revision() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        // pagination: an empty cursor is a cursor.
        let pages: &[(_, &[_], _)] = &[
            (None, &["a", "b"], Some("")),
            (Some(""), &[], Some("2")),
            (Some("2"), &["c"], None),
        ];
        let (listed, ()) = tokio::join!(names(&connection), serve(&mut server, pages));
        assert_eq!(listed.unwrap(), ["a", "b", "c"]);
    }
}

#[tokio::test(start_paused = true)]
async fn every_list_is_there() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let client = async {
        assert_eq!(connection.prompts().await.unwrap()[0].name, "p");
        assert_eq!(connection.resources().await.unwrap()[0].uri, "a:b");
        assert_eq!(
            connection.resource_templates().await.unwrap()[0].uri_template,
            "a:{b}"
        );
    };
    tokio::join!(
        client,
        server.play(
            r#"
            >> {"method": "prompts/list"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"prompts": [{"name": "p"}], "resultType": "complete"}}
            >> {"method": "resources/list"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"resources": [{"uri": "a:b", "name": "r"}]}}
            >> {"method": "resources/templates/list"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "t"}]}}
            "#
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_fetches_a_page_when_it_is_wanted() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let mut stream = connection.tools().stream();
    let (first, ()) = tokio::join!(
        stream.next(),
        serve(&mut server, &[(None, &["a", "b"], Some("x"))])
    );
    assert_eq!(first.unwrap().unwrap().name, "a");
    assert_eq!(stream.next().await.unwrap().unwrap().name, "b");
    let (third, ()) = tokio::join!(
        stream.next(),
        serve(&mut server, &[(Some("x"), &["c"], None)])
    );
    assert_eq!(third.unwrap().unwrap().name, "c");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn it_is_a_stream_of_the_ecosystem_as_well() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let mut stream = pin!(connection.tools().stream());
    let (first, ()) = tokio::join!(
        std::future::poll_fn(|context| stream.as_mut().poll_next(context)),
        serve(&mut server, &[(None, &["a"], None)])
    );
    assert_eq!(first.unwrap().unwrap().name, "a");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_comes_twice_is_an_error() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let pages: &[(_, &[_], _)] = &[
        (None, &["a"], Some("x")),
        (Some("x"), &["b"], Some("y")),
        (Some("y"), &["c"], Some("x")),
    ];
    let (listed, ()) = tokio::join!(names(&connection), serve(&mut server, pages));
    let error = listed.unwrap_err();
    assert!(matches!(error, CallError::EndlessList { .. }), "{error:?}");
    assert!(
        error.to_string().ends_with("the same cursor came twice"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn pages_without_end_are_an_error() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let (listed, ()) = tokio::join!(names(&connection), async {
        for page in 0..10_000 {
            server.hear().await;
            server
                .answer(json!({"tools": [], "nextCursor": page.to_string()}))
                .await;
        }
    });
    let error = listed.unwrap_err();
    assert!(matches!(error, CallError::EndlessList { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_page_ends_the_list_with_its_error() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let mut stream = connection.tools().stream();
    let (first, ()) = tokio::join!(
        stream.next(),
        server.play(
            r#"
            >> {"method": "tools/list"}
            << {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32602, "message": "bad cursor"}}
            "#
        )
    );
    assert!(matches!(first, Some(Err(CallError::Rejected { .. }))));
    assert!(stream.next().await.is_none());
}
