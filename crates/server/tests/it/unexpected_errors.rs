//! Errors in the usual styles, returned by tools, prompts and resources; and what the client gets
//! of unexpected errors.

use std::{error::Error, fmt};

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    CompletionContext, Fault, LiveServer, Prompt, Reject, Resource, Server, Tool, ToolError,
};

use crate::wire::Wire;

/// An error whose text must never leave the process by default.
#[derive(Debug)]
struct Constraint;

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UNIQUE constraint failed: notes.title")
    }
}

impl Error for Constraint {}

#[derive(Debug, thiserror::Error)]
#[error("the note was not saved")]
struct NotSaved(#[from] Constraint);

fn save() -> Result<(), NotSaved> {
    Err(Constraint)?
}

async fn own() -> Result<&'static str, NotSaved> {
    save()?;
    Ok("saved")
}

async fn boxed() -> Result<&'static str, Box<dyn Error>> {
    save()?;
    Ok("saved")
}

async fn boxed_to_send() -> Result<&'static str, Box<dyn Error + Send + Sync>> {
    save()?;
    Ok("saved")
}

async fn question_mark() -> Result<&'static str, ToolError> {
    boxed_to_send().await?;
    Ok("saved")
}

#[cfg(feature = "anyhow")]
async fn with_anyhow() -> anyhow::Result<&'static str> {
    save()?;
    Ok("saved")
}

#[cfg(feature = "anyhow")]
async fn on_anyhow() -> Result<&'static str, ToolError> {
    Ok(with_anyhow().await?)
}

#[cfg(feature = "eyre")]
async fn with_eyre() -> eyre::Result<&'static str> {
    save()?;
    Ok("saved")
}

fn server() -> Server {
    let server = Server::new("notes", "1")
        .tool(Tool::new("own", own))
        .tool(Tool::new("boxed", boxed))
        .tool(Tool::new("boxed_to_send", boxed_to_send))
        .tool(Tool::new("question_mark", question_mark))
        .prompt(Prompt::new("own", own))
        .prompt(Prompt::new("boxed", boxed))
        .resource(Resource::new("note://own", own))
        .resource(Resource::new("note://boxed", boxed))
        .resource(Resource::new("note://complete/{id}", async || "").complete("id", completing));
    #[cfg(feature = "anyhow")]
    let server = server
        .tool(Tool::new("anyhow", with_anyhow))
        .tool(Tool::new("on_anyhow", on_anyhow))
        .prompt(Prompt::new("anyhow", with_anyhow))
        .resource(Resource::new("note://anyhow", with_anyhow));
    #[cfg(feature = "eyre")]
    let server = server
        .tool(Tool::new("eyre", with_eyre))
        .prompt(Prompt::new("eyre", with_eyre))
        .resource(Resource::new("note://eyre", with_eyre));
    server
}

async fn completing(_: CompletionContext) -> Result<Vec<String>, NotSaved> {
    save()?;
    Ok(Vec::new())
}

/// The text of each failure that the client reads: of tools the content, of the others the message.
async fn read(live: &LiveServer, revision: Revision) -> Vec<(String, String)> {
    let mut wire = Wire::at(live, revision).await;
    let mut read = Vec::new();
    for tool in names(&mut wire, "tools", "name").await {
        let result = wire
            .result("tools/call", json!({ "name": tool, "arguments": {} }))
            .await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        read.push((tool, text(&result["content"][0]["text"])));
    }
    for prompt in names(&mut wire, "prompts", "name").await {
        let error = wire.error("prompts/get", json!({ "name": prompt })).await;
        assert_eq!(error["code"], -32603, "{error}");
        read.push((prompt, text(&error["message"])));
    }
    for uri in names(&mut wire, "resources", "uri").await {
        let error = wire.error("resources/read", json!({ "uri": uri })).await;
        assert_eq!(error["code"], -32603, "{error}");
        read.push((uri, text(&error["message"])));
    }
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "note://complete/{id}" },
        "argument": { "name": "id", "value": "" }
    });
    let error = wire.error("completion/complete", complete).await;
    read.push(("completion".into(), text(&error["message"])));
    read
}

async fn names(wire: &mut Wire, list: &str, key: &str) -> Vec<String> {
    let result = wire.result(&format!("{list}/list"), json!({})).await;
    let entries = result[list].as_array().expect("a list").iter();
    entries.map(|entry| text(&entry[key])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

#[tokio::test]
async fn unexpected_errors_are_numbers_unless_the_author_says_otherwise() {
    let live = server().build().expect("a server");
    for &revision in Revision::ALL {
        let mut numbers = Vec::new();
        for (name, text) in read(&live, revision).await {
            let (before, number) = text.rsplit_once(' ').expect("the number is last");
            assert_eq!(
                before, "internal error; the server's log has it as fault",
                "{name}"
            );
            let (process, count) = number.split_once('-').expect("process and count");
            assert_eq!(process.len(), 6, "{number}");
            numbers.push(count.parse::<u64>().expect("a count"));
        }
        let count = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "each fault has its own number");
    }
}

#[tokio::test]
async fn a_server_that_shows_errors_shows_them_with_their_causes() {
    let live = server().show_errors().build().expect("a server");
    for (name, text) in read(&live, Revision::LATEST).await {
        assert_eq!(
            text, "the note was not saved: UNIQUE constraint failed: notes.title",
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_author_may_choose_by_error_what_is_shown() {
    let live = Server::new("notes", "1")
        .tool(Tool::new("own", own))
        .tool(Tool::new("number", async || "x".parse::<u8>()))
        .show_errors_with(|error| {
            error
                .downcast_ref::<NotSaved>()
                .map(|_| "a note of this title exists".to_owned())
        })
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    for (tool, expected) in [
        ("own", "a note of this title exists"),
        ("number", "internal error; the server's log has it as fault"),
    ] {
        let result = wire
            .result("tools/call", json!({ "name": tool, "arguments": {} }))
            .await;
        let said = text(&result["content"][0]["text"]);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[tokio::test]
async fn texts_are_for_the_reader() {
    async fn full() -> Result<&'static str, String> {
        let seats = 0;
        Err(format!("{seats} seats are left"))
    }
    async fn closed() -> Result<&'static str, &'static str> {
        Err("the shop is closed")
    }
    async fn mixed() -> Result<&'static str, ToolError> {
        full().await?;
        Ok("")
    }
    let live = Server::new("shop", "1")
        .tool(Tool::new("full", full))
        .tool(Tool::new("closed", closed))
        .tool(Tool::new("mixed", mixed))
        .tool(Tool::new("shown", async || {
            "x".parse::<u8>().map_err(ToolError::shown)
        }))
        .prompt(Prompt::new("closed", closed))
        .resource(Resource::new("shop://full", full))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    for (tool, expected) in [
        ("full", "0 seats are left"),
        ("closed", "the shop is closed"),
        ("mixed", "0 seats are left"),
        ("shown", "invalid digit found in string"),
    ] {
        let result = wire
            .result("tools/call", json!({ "name": tool, "arguments": {} }))
            .await;
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], expected);
    }
    let error = wire.error("prompts/get", json!({ "name": "closed" })).await;
    assert_eq!(error["message"], "the shop is closed");
    let error = wire
        .error("resources/read", json!({ "uri": "shop://full" }))
        .await;
    assert_eq!(error["message"], "0 seats are left");
}

#[tokio::test]
async fn our_own_errors_keep_their_meaning_in_other_peoples_types() {
    fn refuse() -> Result<(), Reject> {
        Err(Reject::new(-31_403, "nobody may know"))
    }
    async fn boxed() -> Result<&'static str, Box<dyn Error>> {
        refuse()?;
        Ok("")
    }
    async fn boxed_to_send() -> Result<&'static str, Box<dyn Error + Send + Sync>> {
        refuse()?;
        Ok("")
    }
    async fn fault() -> Result<&'static str, Box<dyn Error>> {
        Err(Fault::new(Constraint))?;
        Ok("")
    }
    let server = Server::new("s", "1")
        .show_errors()
        .tool(Tool::new("boxed", boxed))
        .tool(Tool::new("boxed_to_send", boxed_to_send));
    #[cfg(feature = "anyhow")]
    let server = {
        async fn with_anyhow() -> anyhow::Result<&'static str> {
            refuse()?;
            Ok("")
        }
        server.tool(Tool::new("anyhow", with_anyhow))
    };
    #[cfg(feature = "eyre")]
    let server = {
        async fn with_eyre() -> eyre::Result<&'static str> {
            refuse()?;
            Ok("")
        }
        server.tool(Tool::new("eyre", with_eyre))
    };
    let live = server.build().expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    for tool in names(&mut wire, "tools", "name").await {
        let error = wire
            .error("tools/call", json!({ "name": tool, "arguments": {} }))
            .await;
        assert_eq!(error["code"], -31_403, "{tool}");
    }
    live.catalog()
        .add_tool(Tool::new("fault", fault))
        .expect("a tool");
    let error = wire
        .error("tools/call", json!({ "name": "fault", "arguments": {} }))
        .await;
    assert!(!error.to_string().contains("UNIQUE"), "{error}");
}
