//! `completion/complete`: candidates for arguments of prompts and variables of templates.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Args, Caller, CompletionContext, LiveServer, Prompt, Reject, Resource, Server, SetupError,
    State, Tool,
};

use crate::wire::Wire;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only their names matter here")]
struct Wishes {
    city: String,
    street: String,
    many: String,
    fails: Option<String>,
    plain: Option<String>,
    colour: Colour,
    shade: Option<Colour>,
}

async fn wish(Args(_): Args<Wishes>) -> &'static str {
    ""
}

async fn streets(completing: CompletionContext) -> Vec<String> {
    let city = completing.settled.get("city").map_or("?", String::as_str);
    let caller = completing.caller.id().unwrap_or("local");
    vec![format!("{}/{city}/{caller}", completing.partial)]
}

async fn many(partial: String) -> Vec<String> {
    let count = partial.parse().unwrap_or(0);
    (0..count).map(|number: usize| number.to_string()).collect()
}

fn server() -> LiveServer {
    Server::new("s", "1")
        .prompt(
            Prompt::new("wish", wish)
                .complete("city", ["Basel", "Bern", "bonn", "Ürzig"])
                .complete("street", streets)
                .complete("many", many)
                .complete("fails", async |_: String| {
                    Err::<Vec<&str>, _>(Reject::new(7, "not today"))
                }),
        )
        .prompt(Prompt::new("hidden", async || "").visible(|caller| caller.id().is_some()))
        .resource(
            Resource::new("c://{city}/{colour}", async |_: Args<Place>| "")
                .complete("city", vec!["Bern".to_owned()]),
        )
        .resource(Resource::new("c://fixed", async || ""))
        .build()
        .expect("a server")
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only their names matter here")]
struct Place {
    city: String,
    colour: Colour,
}

fn of_prompt(argument: &str, value: &str) -> Value {
    let reference = json!({ "type": "ref/prompt", "name": "wish" });
    json!({ "ref": reference, "argument": { "name": argument, "value": value } })
}

fn of_template(argument: &str, value: &str) -> Value {
    let reference = json!({ "type": "ref/resource", "uri": "c://{city}/{colour}" });
    json!({ "ref": reference, "argument": { "name": argument, "value": value } })
}

async fn values(wire: &mut Wire, params: Value) -> Value {
    wire.result("completion/complete", params).await["completion"]["values"].take()
}

#[tokio::test]
async fn fixed_lists_functions_and_enums_complete_at_every_revision() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        for (params, expected) in [
            (
                of_prompt("city", ""),
                json!(["Basel", "Bern", "bonn", "Ürzig"]),
            ),
            (of_prompt("city", "B"), json!(["Basel", "Bern", "bonn"])),
            (of_prompt("city", "ber"), json!(["Bern"])),
            (of_prompt("city", "ü"), json!(["Ürzig"])),
            (of_prompt("city", "Zug"), json!([])),
            (of_prompt("street", "Main"), json!(["Main/?/local"])),
            (of_prompt("colour", ""), json!(["red", "green"])),
            (of_prompt("colour", "g"), json!(["green"])),
            (of_prompt("shade", "r"), json!(["red"])),
            (of_prompt("plain", ""), json!([])),
            (of_template("city", ""), json!(["Bern"])),
            (of_template("colour", "r"), json!(["red"])),
        ] {
            assert_eq!(
                values(&mut wire, params.clone()).await,
                expected,
                "{params} at {revision}"
            );
        }
    }
}

#[tokio::test]
async fn a_completer_knows_what_is_settled_and_who_asks() {
    let mut wire = Wire::open_as(&server(), Caller::new("ann"));
    let mut params = of_prompt("street", "Main");
    params["context"] = json!({ "arguments": { "city": "Bern", "other": "x" } });
    assert_eq!(
        values(&mut wire, params.clone()).await,
        json!(["Main/Bern/ann"])
    );
    params["context"] = json!({});
    assert_eq!(values(&mut wire, params).await, json!(["Main/?/ann"]));
}

// rule: RS5
#[tokio::test]
async fn an_answer_holds_a_hundred_and_says_if_there_are_more() {
    // completion: a response MUST NOT hold more than 100 values.
    let mut wire = Wire::open(&server());
    for (count, shown, has_more) in [
        (0, 0, false),
        (99, 99, false),
        (100, 100, false),
        (101, 100, true),
        (2500, 100, true),
    ] {
        let result = wire
            .result("completion/complete", of_prompt("many", &count.to_string()))
            .await;
        let completion = &result["completion"];
        assert_eq!(
            completion["values"].as_array().map(Vec::len),
            Some(shown),
            "{count}"
        );
        assert_eq!(
            (&completion["total"], &completion["hasMore"]),
            (&json!(count), &json!(has_more))
        );
    }
}

// rule: RS11, J17
#[tokio::test]
async fn what_cannot_be_completed_is_refused() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server(), revision).await;
        let argument = json!({ "name": "city", "value": "" });
        for reference in [
            json!({ "type": "ref/prompt", "name": "no-such" }),
            json!({ "type": "ref/prompt", "name": "hidden" }),
            json!({ "type": "ref/resource", "uri": "c://{city}" }),
            json!({ "type": "ref/resource", "uri": "c://fixed" }),
            json!({ "type": "ref/tool", "name": "wish" }),
            json!({ "type": "ref/prompt" }),
            json!({}),
            json!(7),
        ] {
            let params = json!({ "ref": reference, "argument": argument });
            assert_eq!(
                wire.code("completion/complete", params).await,
                -32602,
                "{reference}"
            );
        }
        let reference = json!({ "type": "ref/prompt", "name": "wish" });
        for argument in [
            json!({ "name": "city" }),
            json!({ "value": "" }),
            json!({ "name": 1, "value": 2 }),
        ] {
            let params = json!({ "ref": reference, "argument": argument });
            assert_eq!(
                wire.code("completion/complete", params).await,
                -32602,
                "{argument}"
            );
        }
        let error = wire.error("completion/complete", json!({})).await;
        let wanted = "the request cannot be read: missing field `ref`";
        assert_eq!(error, json!({ "code": -32602, "message": wanted }));
        // completion: an unknown argument is an error; one without a completer is not.
        for params in [of_prompt("no-such", ""), of_template("no-such", "")] {
            let error = wire.error("completion/complete", params).await;
            assert_eq!(error["code"], -32602);
            let message = error["message"].as_str().expect("text");
            assert!(
                message.contains("`no-such`") && message.contains("`city`"),
                "{message}"
            );
        }
        let error = wire
            .error("completion/complete", of_prompt("fails", ""))
            .await;
        assert_eq!(error, json!({ "code": 7, "message": "not today" }));
    }
}

// rule: RS5
#[tokio::test]
async fn a_server_that_completes_nothing_says_so() {
    let bare = Server::new("s", "1")
        .tool(Tool::new("t", async || ""))
        .prompt(Prompt::new("p", async || ""))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&bare);
    assert_eq!(
        wire.result("server/discover", json!({})).await["capabilities"].get("completions"),
        None
    );
    assert_eq!(
        wire.code("completion/complete", of_prompt("city", ""))
            .await,
        -32601
    );
    let mut wire = Wire::open(&server());
    let discovered = wire.result("server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"]["completions"], json!({}));
}

#[test]
fn a_completer_of_nothing_is_found_when_the_server_is_set_up() {
    let prompt = Prompt::new("wish", wish).complete("town", ["Bern"]);
    let Err(error) = Server::new("s", "1").prompt(prompt).build() else {
        panic!("a server")
    };
    assert!(
        matches!(error, SetupError::Invalid { kind: "prompt", .. }),
        "{error}"
    );
    assert!(error.to_string().contains("`town`"), "{error}");
}

#[derive(Clone)]
struct Towns(Vec<&'static str>);

#[tokio::test]
async fn completers_take_extractors_as_handlers_do() {
    async fn after_the_text(typed: String, State(towns): State<Towns>) -> Vec<String> {
        turnbuckle_server::suggest(towns.0, &typed)
    }
    async fn before_it(
        caller: Caller,
        State(towns): State<Towns>,
        completing: CompletionContext,
    ) -> Result<Vec<String>, Reject> {
        let caller = caller.id().unwrap_or("local").to_owned();
        Ok(vec![caller, completing.partial, towns.0.len().to_string()])
    }
    async fn only_state(State(towns): State<Towns>) -> Vec<&'static str> {
        towns.0
    }
    let captured = Towns(vec!["Captured"]);
    let live = Server::new("s", "1")
        .state(Towns(vec!["Bern", "Berlin", "Paris"]))
        .prompt(
            Prompt::new("wish", wish)
                .complete("city", after_the_text)
                .complete("street", before_it)
                .complete("plain", only_state)
                .complete("many", move |_: String| {
                    let towns = captured.clone();
                    async move { towns.0 }
                }),
        )
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at_as(&live, revision, Caller::new("ada")).await;
        for (params, expected) in [
            (of_prompt("city", "ber"), json!(["Bern", "Berlin"])),
            (of_prompt("city", "prais"), json!(["Paris"])),
            (of_prompt("street", "x"), json!(["ada", "x", "3"])),
            (of_prompt("plain", ""), json!(["Bern", "Berlin", "Paris"])),
            (of_prompt("many", ""), json!(["Captured"])),
        ] {
            assert_eq!(values(&mut wire, params).await, expected);
        }
    }
}

#[test]
fn a_completer_whose_state_is_missing_is_found_at_the_start() {
    async fn towns(State(towns): State<Towns>) -> Vec<&'static str> {
        towns.0
    }
    async fn completing(_: CompletionContext) -> &'static str {
        ""
    }
    let server = Server::new("s", "1").prompt(Prompt::new("wish", wish).complete("city", towns));
    let error = server.build().err().expect("the state is missing");
    assert!(matches!(error, SetupError::MissingState { .. }), "{error}");
    let server = Server::new("s", "1").tool(Tool::new("misplaced", completing));
    let error = server.build().err().expect("it is not a completer");
    assert!(error.to_string().contains("completers"), "{error}");
}
