//! Lists page by page: cursors, order, visibility, and cache hints.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::{CacheScope, ReadResourceResult, Revision};
use turnbuckle_server::{Cached, Caller, LiveServer, Prompt, Resource, Server, Tool};

use crate::wire::Wire;

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// A server with `count` entries of each kind, named by number.
fn many(count: usize, page: usize) -> LiveServer {
    let mut server = Server::new("s", "1").page_size(page);
    for number in 0..count {
        server = server
            .tool(Tool::new(format!("n{number}"), async || ""))
            .prompt(Prompt::new(format!("n{number}"), async || ""))
            .resource(
                Resource::new(format!("r://{number}"), async || "").name(format!("n{number}")),
            )
            .resource(
                Resource::new(format!("t{number}://{{x}}"), async || "").name(format!("n{number}")),
            );
    }
    server.build().expect("a server")
}

fn names(page: &Value, member: &str) -> Vec<String> {
    let items = page[member].as_array().expect("a list");
    items
        .iter()
        .map(|item| item["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// All pages of a list, with the names on each.
async fn pages(wire: &mut Wire, method: &str, member: &str) -> Vec<Vec<String>> {
    pages_from(wire, method, member, json!({})).await
}

async fn pages_from(
    wire: &mut Wire,
    method: &str,
    member: &str,
    mut params: Value,
) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let page = wire.result(method, params).await;
        pages.push(names(&page, member));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return pages,
        }
    }
}

// rule: T1
#[tokio::test]
async fn pages_hold_everything_once_in_the_order_of_registration() {
    for &revision in Revision::ALL {
        for (count, size, lengths) in [
            (7, 3, &[3, 3, 1][..]),
            (6, 3, &[3, 3]),
            (3, 3, &[3]),
            (2, 3, &[2]),
            (3, 1, &[1, 1, 1]),
            (1, 0, &[1]),
        ] {
            let mut wire = Wire::at(&many(count, size), revision).await;
            for (method, member) in LISTS {
                let pages = pages(&mut wire, method, member).await;
                let expected: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
                assert_eq!(pages.concat(), expected, "{method} at {revision}");
                assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
            }
        }
    }
}

// rule: M11
// lists MUST NOT differ by connection, nor by what was called before.
#[tokio::test]
async fn a_modern_list_is_the_same_on_every_connection_whatever_was_called() {
    let live = many(5, 50);
    let mut first = Wire::open(&live);
    let mut second = Wire::open(&live);
    for (method, _) in LISTS {
        let fresh = first.result(method, json!({})).await;
        first.call("n1", json!({})).await;
        first.result("server/discover", json!({})).await;
        let after = first.result(method, json!({})).await;
        let elsewhere = second.result(method, json!({})).await;
        assert_eq!(fresh, after, "{method}");
        assert_eq!(fresh, elsewhere, "{method}");
    }
    // A session on the same connection does not affect the modern requests.
    let before = second.result("tools/list", json!({})).await;
    second.greet(Revision::V2025_03_26).await;
    second.speak(Revision::LATEST);
    assert_eq!(second.result("tools/list", json!({})).await, before);
}

// rule: M4, T1, RS1, RS4
#[tokio::test]
async fn what_was_never_offered_is_not_there_and_what_once_was_is_an_empty_list() {
    // discover: the capabilities are what the server serves, no more and no less.
    let live = Server::new("s", "1").build().expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (method, _) in LISTS {
            assert_eq!(wire.code(method, json!({})).await, -32601, "{method}");
        }
        for method in [
            "tools/call",
            "prompts/get",
            "resources/read",
            "completion/complete",
        ] {
            assert_eq!(
                wire.code(method, json!({ "name": "a", "uri": "a:" })).await,
                -32601
            );
        }
    }
    let capabilities = Wire::open(&live).result("server/discover", json!({})).await;
    assert_eq!(capabilities["capabilities"], json!({}));
    let catalog = live.catalog();
    catalog
        .add_tool(Tool::new("a", async || ""))
        .expect("a tool");
    catalog
        .add_prompt(Prompt::new("a", async || ""))
        .expect("a prompt");
    let template = Resource::new("a:{x}", async || "").complete("x", ["y"]);
    catalog.add_resource(template).expect("a resource");
    let before = Wire::open(&live).result("server/discover", json!({})).await;
    let offered = before["capabilities"].as_object().expect("an object");
    let offered: Vec<_> = offered.keys().map(String::as_str).collect();
    assert_eq!(offered, ["completions", "prompts", "resources", "tools"]);
    for &revision in Revision::LEGACY {
        let mut wire = Wire::open(&live);
        let declared = wire.initialize(revision.as_str()).await["capabilities"].take();
        for list in ["tools", "prompts", "resources"] {
            assert!(declared[list].is_object(), "{list} at {revision}");
        }
    }
    assert!(catalog.remove_tool("a") && catalog.remove_prompt("a"));
    assert!(catalog.remove_resource("a:{x}"));
    // A client that knew of the lists may still ask for them.
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (method, member) in LISTS {
            assert_eq!(
                pages(&mut wire, method, member).await,
                [Vec::<String>::new()]
            );
        }
        for method in ["tools/call", "prompts/get", "completion/complete"] {
            assert_eq!(wire.code(method, json!({ "name": "a" })).await, -32602);
        }
    }
    assert_eq!(
        Wire::open(&live).result("server/discover", json!({})).await,
        before
    );
}

#[tokio::test]
async fn a_cursor_stays_good_when_others_come_and_go() {
    let live = many(6, 2);
    let mut wire = Wire::open(&live);
    wire.initialize("2025-11-25").await; // Not `initialized`, so no changes are reported to it.
    let first = wire.result("tools/list", json!({})).await;
    let next = json!({ "cursor": first["nextCursor"] });
    let catalog = live.catalog();
    // Before the cursor, at it, and after it.
    for name in ["n0", "n1", "n3"] {
        assert!(catalog.remove_tool(name));
    }
    catalog
        .add_tool(Tool::new("late", async || ""))
        .expect("a tool");
    catalog
        .add_tool(Tool::new("n0", async || ""))
        .expect("the name is free again");
    let seen = pages_from(&mut wire, "tools/list", "tools", next)
        .await
        .concat();
    assert_eq!(seen, ["n2", "n4", "n5", "late", "n0"]);
    // If the tail of a list was removed, the next page is empty, and not an error.
    let first = wire.result("tools/list", json!({})).await;
    for name in names(&first, "tools").into_iter().chain(seen) {
        catalog.remove_tool(&name);
    }
    let rest = wire
        .result("tools/list", json!({ "cursor": first["nextCursor"] }))
        .await;
    assert_eq!(rest, json!({ "tools": [] }));
}

// rule: RS6
#[tokio::test]
async fn a_cursor_that_was_never_given_out_is_refused() {
    // pagination: invalid cursors SHOULD result in -32602.
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&many(4, 2), revision).await;
        let good = wire.result("tools/list", json!({})).await["nextCursor"].clone();
        let good = good.as_str().expect("a cursor");
        let bad = [
            String::new(),
            "x".into(),
            format!("{good}x"),
            format!(" {good}"),
            format!("{good}0000"),
            format!("{}-1", &good[..1]),
            "t99999999999999999999999".into(),
            "💥".into(),
            "x".repeat(100_000),
        ];
        for cursor in bad {
            let error = wire.error("tools/list", json!({ "cursor": cursor })).await;
            assert_eq!(error["code"], -32602, "{cursor:.20}");
            assert!(
                error["message"]
                    .as_str()
                    .is_some_and(|text| text.contains("cursor"))
            );
        }
        for cursor in [json!(1), json!([]), json!({}), json!(true)] {
            assert_eq!(
                wire.code("tools/list", json!({ "cursor": cursor })).await,
                -32602
            );
        }
        // The cursor of one list is invalid for another.
        for (method, _) in LISTS.iter().skip(1) {
            assert_eq!(
                wire.code(method, json!({ "cursor": good })).await,
                -32602,
                "{method}"
            );
        }
        // Some clients write null for no cursor.
        wire.result("tools/list", json!({ "cursor": null })).await;
    }
}

#[tokio::test]
async fn a_list_changes_as_soon_as_the_catalog_does() {
    let live = many(1, 10);
    for &revision in Revision::ALL {
        let mut wire = Wire::open(&live);
        if !revision.is_modern() {
            wire.initialize(revision.as_str()).await; // Not `initialized`, so nothing is reported.
        }
        let name = format!("for-{revision}");
        let before = wire.result("tools/list", json!({})).await;
        assert_eq!(wire.result("tools/list", json!({})).await, before);
        live.catalog()
            .add_tool(Tool::new(name.clone(), async || ""))
            .expect("a tool");
        let after = wire.result("tools/list", json!({})).await;
        assert_eq!(names(&after, "tools"), ["n0".to_owned(), name.clone()]);
        assert!(live.catalog().remove_tool(&name));
        assert!(!live.catalog().remove_tool(&name));
        assert_eq!(wire.result("tools/list", json!({})).await, before);
    }
}

// rule: T3, T7, K4
#[tokio::test]
async fn what_is_restricted_is_listed_and_used_by_those_who_may() {
    let boss = |caller: &Caller| caller.id() == Some("boss");
    let mut server = Server::new("s", "1").page_size(2);
    for number in 0..6 {
        let mut tool = Tool::new(format!("n{number}"), async || "ran");
        let mut prompt = Prompt::new(format!("n{number}"), async || "ran");
        let mut one =
            Resource::new(format!("r://{number}"), async || "ran").name(format!("n{number}"));
        let mut all =
            Resource::new(format!("t{number}://{{x}}"), async || "ran").name(format!("n{number}"));
        if number % 2 == 1 {
            (tool, prompt) = (tool.visible(boss), prompt.visible(boss));
            (one, all) = (one.visible(boss), all.visible(boss));
        }
        server = server.tool(tool).prompt(prompt).resource(one).resource(all);
    }
    let live = server.build().expect("a server");
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        // Interleaved, so that no caller is served a page that was written for the other.
        let mut ann = Wire::at_as(&live, revision, Caller::new("ann")).await;
        let mut boss = Wire::at_as(&live, revision, Caller::new("boss")).await;
        for (method, member) in LISTS {
            let all = vec![vec!["n0", "n1"], vec!["n2", "n3"], vec!["n4", "n5"]];
            assert_eq!(pages(&mut boss, method, member).await, all, "{method}");
            let some = vec![vec!["n0", "n2"], vec!["n4"]];
            assert_eq!(pages(&mut ann, method, member).await, some, "{method}");
            assert_eq!(pages(&mut boss, method, member).await, all, "{method}");
        }
        // For others it does not exist: even the error is the same.
        let hidden = ann.error("tools/call", json!({ "name": "n1" })).await;
        let absent = ann.error("tools/call", json!({ "name": "n9" })).await;
        assert_eq!(hidden.to_string().replace("n1", "n9"), absent.to_string());
        assert_eq!(boss.text("n1", json!({})).await, "ran");
        let hidden = ann.error("prompts/get", json!({ "name": "n1" })).await;
        let absent = ann.error("prompts/get", json!({ "name": "n9" })).await;
        assert_eq!(hidden.to_string().replace("n1", "n9"), absent.to_string());
        boss.result("prompts/get", json!({ "name": "n1" })).await;
        for uri in ["r://1", "t1://x"] {
            let error = ann.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!(error["data"], json!({ "uri": uri }));
            boss.result("resources/read", json!({ "uri": uri })).await;
        }
    }
}

// rule: K1
#[tokio::test]
async fn only_modern_results_have_cache_hints() {
    // caching: ttlMs and cacheScope are on complete results of the six methods.
    let live = Server::new("s", "1")
        .cache(Duration::from_secs(90), CacheScope::Public)
        .tool(Tool::new("t", async || ""))
        .prompt(Prompt::new("p", async || ""))
        .resource(Resource::new("r://it", async || "hi"))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "r://it" })),
    ] {
        wire.speak(Revision::LATEST);
        let modern = wire.result(method, params.clone()).await;
        assert_eq!(
            (&modern["ttlMs"], &modern["cacheScope"]),
            (&json!(90_000), &json!("public"))
        );
        wire.speak(Revision::V2025_11_25);
        let legacy = wire.result(method, params).await;
        assert_eq!(
            (legacy.get("ttlMs"), legacy.get("cacheScope")),
            (None, None),
            "{method}"
        );
    }
    wire.speak(Revision::LATEST);
    let discovered = wire.result("server/discover", json!({})).await;
    assert_eq!(
        (&discovered["ttlMs"], &discovered["cacheScope"]),
        (&json!(90_000), &json!("public"))
    );
    assert_eq!(
        wire.call("t", json!({})).await.get("ttlMs"),
        None,
        "a call's result has no hints"
    );
}

// rule: K1, K4
#[tokio::test]
async fn what_differs_by_caller_is_never_shared_by_caches() {
    // caching: `public` may be served across authorization contexts.
    let live = Server::new("s", "1")
        .cache(Duration::from_secs(90), CacheScope::Public)
        .page_size(1)
        .tool(Tool::new("all", async || ""))
        .tool(Tool::new("some", async || "").visible(|caller| caller.id().is_some()))
        .prompt(Prompt::new("all", async || ""))
        .resource(Resource::new("open://it", async || ""))
        .resource(Resource::new("some://{x}", async || "").visible(|_| true))
        .build()
        .expect("a server");
    let mut wire = Wire::open_as(&live, Caller::new("ann"));
    let first = wire.result("tools/list", json!({})).await;
    let second = wire
        .result("tools/list", json!({ "cursor": first["nextCursor"] }))
        .await;
    // caching: all pages of a list share one scope.
    for page in [first, second] {
        assert_eq!(
            (&page["ttlMs"], &page["cacheScope"]),
            (&json!(90_000), &json!("private"))
        );
    }
    for (method, params, scope) in [
        ("prompts/list", json!({}), "public"),
        ("resources/list", json!({}), "public"),
        ("resources/templates/list", json!({}), "private"),
        ("resources/read", json!({ "uri": "open://it" }), "public"),
        ("resources/read", json!({ "uri": "some://1" }), "private"),
    ] {
        assert_eq!(
            wire.result(method, params).await["cacheScope"],
            scope,
            "{method}"
        );
    }
}

#[tokio::test]
async fn each_kind_of_answer_can_be_kept_for_its_own_time() {
    let seconds = Duration::from_secs;
    let live = Server::new("s", "1")
        .cache(seconds(1), CacheScope::Private)
        .cache_of(Cached::Discovery, seconds(2), CacheScope::Public)
        .cache_of(Cached::Tools, seconds(3), CacheScope::Public)
        .cache_of(Cached::Templates, seconds(4), CacheScope::Private)
        .cache_of(Cached::Reads, seconds(5), CacheScope::Public)
        .tool(Tool::new("t", async || ""))
        .prompt(Prompt::new("p", async || ""))
        .resource(Resource::new("r://common", async || ""))
        .resource(Resource::new("r://own", async || "").cache(seconds(6), CacheScope::Private))
        .resource(Resource::new("r://read", async || {
            ReadResourceResult::new(Vec::new()).with_ttl_ms(7000)
        }))
        .resource(Resource::new("r://{x}", async || ""))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for (method, params, ttl, scope) in [
        ("server/discover", json!({}), 2000, "public"),
        ("tools/list", json!({}), 3000, "public"),
        ("prompts/list", json!({}), 1000, "private"),
        ("resources/list", json!({}), 1000, "private"),
        ("resources/templates/list", json!({}), 4000, "private"),
        (
            "resources/read",
            json!({ "uri": "r://common" }),
            5000,
            "public",
        ),
        (
            "resources/read",
            json!({ "uri": "r://any" }),
            5000,
            "public",
        ),
        (
            "resources/read",
            json!({ "uri": "r://own" }),
            6000,
            "private",
        ),
        // If a read has no hint, that of the resource is used, or the server's.
        (
            "resources/read",
            json!({ "uri": "r://read" }),
            7000,
            "public",
        ),
    ] {
        let result = wire.result(method, params.clone()).await;
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(ttl), &json!(scope)),
            "{method} {params}"
        );
    }
    for &revision in Revision::LEGACY {
        let mut wire = Wire::at(&live, revision).await;
        for uri in ["r://own", "r://read"] {
            let read = wire.result("resources/read", json!({ "uri": uri })).await;
            assert_eq!((read.get("ttlMs"), read.get("cacheScope")), (None, None));
        }
    }
}

#[tokio::test]
async fn what_only_some_may_see_cannot_be_shared() {
    let hidden = |scope| {
        Resource::new("r://it", async || "")
            .visible(|_| true)
            .cache(Duration::MAX, scope)
    };
    let server = |scope| Server::new("s", "1").resource(hidden(scope)).build();
    let error = server(CacheScope::Public).err().expect("a mistake");
    assert!(error.to_string().contains("CacheScope::Private"), "{error}");
    let live = server(CacheScope::Private).expect("a server");
    let read = Wire::open(&live)
        .result("resources/read", json!({ "uri": "r://it" }))
        .await;
    // Nothing may be cached for more than a year.
    assert_eq!(read["ttlMs"], 31_536_000_000_u64);
}
