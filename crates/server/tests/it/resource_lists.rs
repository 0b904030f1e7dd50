//! Resources that a callback lists: with pages, for each caller, and beside those of the catalog.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use turnbuckle_protocol::{self as protocol, Revision};
use turnbuckle_server::{
    Args, Caller, Changes, LiveServer, Paging, Reject, Resource, ResourcePage, Server, SetupError,
    State,
};

use crate::wire::Wire;

/// Notes by owner and number.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<(String, u32), String>>>);

impl Notes {
    fn with(owner: &str, count: u32) -> Self {
        let notes = Self::default();
        for number in 1..=count {
            let mut map = notes
                .0
                .lock()
                .expect("no code panics while it holds the lock");
            map.insert((owner.to_owned(), number), format!("text {number}"));
        }
        notes
    }
}

fn owner(caller: &Caller) -> String {
    caller.id().unwrap_or("local").to_owned()
}

/// A page in the way an author would write it: it begins after the key of the last entry.
async fn list(
    State(notes): State<Notes>,
    caller: Caller,
    page: Paging,
) -> Result<ResourcePage, Reject> {
    let after: u32 = match &page.cursor {
        Some(cursor) => cursor
            .parse()
            .map_err(|_| Reject::invalid_params("this is not a cursor of this server"))?,
        None => 0,
    };
    let owner = owner(&caller);
    let notes = notes
        .0
        .lock()
        .expect("no code panics while it holds the lock");
    let found: Vec<u32> = notes
        .keys()
        .filter(|(of, number)| *of == owner && *number > after)
        .map(|(_, number)| *number)
        .take(page.limit + 1)
        .collect();
    let (page_numbers, rest) = found.split_at(found.len().min(page.limit));
    let next = (!rest.is_empty()).then(|| page_numbers[page_numbers.len() - 1].to_string());
    let resources: Vec<_> = page_numbers
        .iter()
        .map(|number| protocol::Resource::new(format!("note://{number}"), format!("Note {number}")))
        .collect();
    Ok(ResourcePage::new(resources).with_next(next))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    id: u32,
}

async fn read(
    State(notes): State<Notes>,
    caller: Caller,
    Args(note): Args<Note>,
) -> Result<String, Reject> {
    let notes = notes
        .0
        .lock()
        .expect("no code panics while it holds the lock");
    notes
        .get(&(owner(&caller), note.id))
        .cloned()
        .ok_or_else(|| Reject::resource_not_found(&format!("note://{}", note.id)))
}

fn server(notes: Notes, page_size: usize) -> LiveServer {
    Server::new("notes", "1")
        .page_size(page_size)
        .state(notes)
        .resource(Resource::new("help://a", async || "help").name("Help"))
        .resource(Resource::new("note://{id}", read).list(list))
        .resource(
            Resource::new("more://{id}", async || "")
                .list(async || vec![protocol::Resource::new("more://1", "More")]),
        )
        .build()
        .expect("a server")
}

async fn pages(wire: &mut Wire) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let result = wire.result("resources/list", params).await;
        let page = result["resources"].as_array().expect("a list");
        let uris = page.iter().map(|entry| entry["uri"].as_str());
        pages.push(uris.map(|uri| uri.expect("a URI").to_owned()).collect());
        match &result["nextCursor"] {
            Value::Null => return pages,
            cursor => params = json!({ "cursor": cursor }),
        }
        assert!(pages.len() < 100, "the list has no end");
    }
}

#[tokio::test]
async fn callbacks_list_after_the_catalog_and_fill_its_pages() {
    for &revision in Revision::ALL {
        let live = server(Notes::with("local", 4), 3);
        let mut wire = Wire::at(&live, revision).await;
        assert_eq!(
            pages(&mut wire).await,
            [
                vec!["help://a", "note://1", "note://2"],
                vec!["note://3", "note://4", "more://1"],
            ]
        );
        let live = server(Notes::with("local", 2), 100);
        let mut wire = Wire::at(&live, revision).await;
        assert_eq!(
            pages(&mut wire).await,
            [["help://a", "note://1", "note://2", "more://1"]]
        );
        // Pages that are full where one callback ends and the next begins.
        let live = server(Notes::with("local", 2), 1);
        let mut wire = Wire::at(&live, revision).await;
        assert_eq!(
            pages(&mut wire).await,
            [["help://a"], ["note://1"], ["note://2"], ["more://1"]]
        );
    }
}

#[tokio::test]
async fn a_list_is_the_callers_own_and_not_for_shared_caches() {
    let live = server(Notes::with("ada", 1), 10);
    let mut ada = Wire::at_as(&live, Revision::LATEST, Caller::new("ada")).await;
    let mut bob = Wire::at_as(&live, Revision::LATEST, Caller::new("bob")).await;
    assert_eq!(
        pages(&mut ada).await,
        [["help://a", "note://1", "more://1"]]
    );
    assert_eq!(pages(&mut bob).await, [["help://a", "more://1"]]);
    let listed = ada.result("resources/list", json!({})).await;
    assert_eq!(listed["cacheScope"], "private");
    let got = ada
        .result("resources/read", json!({ "uri": "note://1" }))
        .await;
    assert_eq!(got["contents"][0]["text"], "text 1");
    bob.error("resources/read", json!({ "uri": "note://1" }))
        .await;
}

#[tokio::test]
async fn a_listed_resource_that_changes_is_told_by_its_uri() {
    let live = server(Notes::with("local", 1), 10);
    let changes: Changes = live.changes();
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    wire.result("resources/subscribe", json!({ "uri": "note://1" }))
        .await;
    changes.resource("note://1");
    let told = wire.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "note://1");
    changes.resources();
    assert_eq!(
        wire.receive().await["method"],
        "notifications/resources/list_changed"
    );
}

#[tokio::test]
async fn a_cursor_that_was_not_given_out_is_refused() {
    let live = server(Notes::with("local", 1), 10);
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    for cursor in ["x", "lx", "l0", "l0000000000000001:2", "r99"] {
        let code = wire
            .code("resources/list", json!({ "cursor": cursor }))
            .await;
        assert_eq!(code, -32602, "{cursor}");
    }
}

#[tokio::test]
async fn a_callback_refuses_a_cursor_that_it_did_not_give() {
    let live = server(Notes::with("local", 4), 3);
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let first = wire.result("resources/list", json!({})).await;
    let cursor = first["nextCursor"].as_str().expect("a second page");
    let (callback, _) = cursor.split_once(':').expect("the callback's cursor");
    let forged = json!({ "cursor": format!("{callback}:no number") });
    assert_eq!(wire.code("resources/list", forged).await, -32602);
    // A callback that was removed has no pages.
    let follow = json!({ "cursor": cursor });
    wire.result("resources/list", follow.clone()).await;
    assert!(live.catalog().remove_resource("note://{id}"));
    assert_eq!(wire.code("resources/list", follow).await, -32602);
}

#[tokio::test]
async fn a_callback_that_some_callers_may_not_see_lists_nothing_to_them() {
    let live = Server::new("s", "1")
        .resource(
            Resource::new("secret://{id}", async || "")
                .visible(|caller| caller.id().is_none())
                .list(async || vec![protocol::Resource::new("secret://1", "Secret")]),
        )
        .build()
        .expect("a server");
    let mut local = Wire::at(&live, Revision::LATEST).await;
    assert_eq!(pages(&mut local).await, [["secret://1"]]);
    let mut eve = Wire::at_as(&live, Revision::LATEST, Caller::new("eve")).await;
    // Eve sees no resources, so for her the server has none.
    assert_eq!(eve.code("resources/list", json!({})).await, -32601);
}

#[tokio::test]
async fn a_callback_that_panics_fails_its_own_request() {
    let live = Server::new("s", "1")
        .resource(
            Resource::new("a://{id}", async || "")
                .list(async || -> Vec<protocol::Resource> { panic!("no database") }),
        )
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let error = wire.error("resources/list", json!({})).await;
    assert!(!error.to_string().contains("database"), "{error}");
    wire.result("resources/templates/list", json!({})).await;
}

#[test]
fn mistakes_are_found_at_the_start() {
    async fn pages(_: Paging) -> &'static str {
        ""
    }
    let literal = Server::new("s", "1")
        .resource(
            Resource::new("a://b", async || "").list(async || Vec::<protocol::Resource>::new()),
        )
        .build();
    assert!(matches!(literal, Err(SetupError::Invalid { .. })));
    let stateless = Server::new("s", "1")
        .resource(Resource::new("note://{id}", async || "").list(list))
        .build();
    assert!(matches!(stateless, Err(SetupError::MissingState { .. })));
    let misplaced = Server::new("s", "1")
        .resource(Resource::new("note://{id}", pages))
        .build();
    let Err(error) = misplaced else {
        panic!("`Paging` works only in callbacks");
    };
    assert!(error.to_string().contains("callbacks that list"), "{error}");
}
