//! Resource templates: which one is read, with which values, and what does not match.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Resource, Server, SetupError};

use crate::wire::Wire;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Class {
    First,
    Second,
}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    flight: String,
    row: u32,
    class: Option<Class>,
    window: Option<bool>,
}

async fn seat(
    Args(Seat {
        flight,
        row,
        class,
        window,
    }): Args<Seat>,
) -> String {
    let class = match class {
        Some(Class::First) => "first",
        Some(Class::Second) => "second",
        None => "any",
    };
    format!("{flight} {row} {class} {window:?}")
}

fn seats() -> Resource {
    Resource::new("seat://{flight}/{row}{?class,window}", seat)
}

#[derive(Deserialize, JsonSchema)]
struct Path {
    path: String,
}

async fn path(Args(Path { path }): Args<Path>) -> String {
    path
}

#[derive(Deserialize, JsonSchema)]
struct Segments {
    path: Vec<String>,
}

async fn read(wire: &mut Wire, uri: &str) -> Value {
    wire.result("resources/read", json!({ "uri": uri })).await["contents"][0]["text"].take()
}

#[tokio::test]
async fn variables_arrive_decoded_and_in_their_types() {
    let segments = async |Args(Segments { path }): Args<Segments>| path.join("|");
    let live = Server::new("s", "1")
        .strict() // Variables are always text: this is for arguments of tools.
        .resource(seats())
        .resource(Resource::new("file:///{+path}", path))
        .resource(Resource::new("tree:{/path*}", segments))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (uri, text) in [
            ("seat://XY1/12", "XY1 12 any None"),
            ("seat://XY%201/12?class=first", "XY 1 12 first None"),
            (
                "seat://1/7?window=true&class=second",
                "1 7 second Some(true)",
            ),
            ("seat://true/7", "true 7 any None"),
            ("file:///a/b.txt", "a/b.txt"),
            ("file:///%C3%A9", "é"),
            ("tree:/a/b/c", "a|b|c"),
            ("tree:/a", "a"),
        ] {
            assert_eq!(read(&mut wire, uri).await, text, "{uri} at {revision}");
        }
    }
}

#[tokio::test]
async fn a_variable_of_the_wrong_type_is_named() {
    let live = Server::new("s", "1")
        .resource(seats())
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (uri, named) in [
            ("seat://XY1/window", "row"),
            ("seat://XY1/-1", "row"),
            ("seat://XY1/1.5", "row"),
            ("seat://XY1/1?class=third", "class"),
            ("seat://XY1/1?window=perhaps", "window"),
        ] {
            let error = wire.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!(error["code"], -32602, "{uri}");
            assert!(
                error["message"]
                    .as_str()
                    .is_some_and(|text| text.contains(named)),
                "{error}"
            );
        }
    }
}

// rule: RS1
#[tokio::test]
async fn what_leads_out_of_a_folder_is_not_found() {
    // resources: servers MUST sanitize file paths to prevent directory traversal.
    let live = Server::new("s", "1")
        .resource(Resource::new("file:///{+path}", path))
        .resource(Resource::new("any:{+path}", path).allow_any_path())
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for attack in [
        "..",
        "../etc/passwd",
        "a/../../etc/passwd",
        "/etc/passwd",
        "%2e%2e/etc/passwd",
        "..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e%2fetc",
        "a/%2e%2e/b",
        "..%5c..%5cboot.ini",
        "C:/Windows",
        "C%3A%5CWindows",
        "a%00.png",
        "%c0%ae%c0%ae/",
        "a\\b",
        "\0",
        "a%",
        "a%zz",
        "{path}",
    ] {
        let uri = format!("file:///{attack}");
        let error = wire.error("resources/read", json!({ "uri": uri })).await;
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(-32602), &json!(uri)),
            "{attack}"
        );
    }
    assert_eq!(
        read(&mut wire, "any:../..%5Cx").await,
        "../..\\x",
        "where the author says so"
    );
}

#[tokio::test]
async fn a_uri_that_nothing_matches_is_not_found() {
    let live = Server::new("s", "1")
        .resource(seats())
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    let long = format!("seat://{}/1", "x".repeat(1_000_000));
    for uri in [
        "",
        "seat",
        "seat://",
        "seat://XY1",
        "seat://XY1/",
        "seat://XY1/1/2",
        "SEAT://XY1/1",
        "x",
        &long,
    ] {
        assert_eq!(
            wire.code("resources/read", json!({ "uri": uri })).await,
            -32002,
            "{uri:.40}"
        );
    }
    for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": null })] {
        let error = wire.error("resources/read", params).await;
        assert_eq!((&error["code"], error.get("data")), (&json!(-32602), None));
    }
}

#[tokio::test]
async fn the_exact_resource_comes_first_then_the_closest_template() {
    let live = Server::new("s", "1")
        .resource(Resource::new("x://{+path}", async || "any path"))
        .resource(Resource::new("x://a/{b}", async || "under a"))
        .resource(Resource::new("x://{a}/{b}", async || "two segments"))
        .resource(Resource::new("x://a/b", async || "the one"))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for (uri, text) in [
        ("x://a/b", "the one"),
        ("x://a/c", "under a"),
        ("x://b/c", "two segments"),
        ("x://b/c/d", "any path"),
    ] {
        assert_eq!(read(&mut wire, uri).await, text, "{uri}");
    }
    assert!(live.catalog().remove_resource("x://a/b"));
    assert!(live.catalog().remove_resource("x://{a}/{b}"));
    assert_eq!(read(&mut wire, "x://a/b").await, "under a");
    assert_eq!(read(&mut wire, "x://b/c").await, "any path");
}

#[test]
fn templates_that_cannot_work_are_found_when_the_server_is_set_up() {
    let cases = [
        (Resource::new("seat://{flight}", seat), "`row`"),
        (Resource::new("seat://none", seat), "`flight`"),
        (Resource::new("seat://{flight", seat), "seat://{flight"),
        (Resource::new("seat://{}", path), "seat://{}"),
        (Resource::new("no-scheme", async || ""), "scheme"),
        (Resource::new("", async || ""), "scheme"),
        (
            Resource::new("x://{path}", path).complete("pth", ["a"]),
            "`pth`",
        ),
        (
            Resource::new("x://it", async || "").complete("path", ["a"]),
            "`path`",
        ),
    ];
    for (resource, named) in cases {
        let Err(error) = Server::new("s", "1").resource(resource).build() else {
            panic!("no error names {named}");
        };
        assert!(
            matches!(
                error,
                SetupError::Invalid {
                    kind: "resource",
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains(named), "{error}");
    }
}
