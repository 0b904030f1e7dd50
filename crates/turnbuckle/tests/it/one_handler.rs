//! Checks the page "One handler, five revisions" against the messages that are really sent, which are recorded here.
//!
//! `TURNBUCKLE_WRITE_DOCS=1 cargo test -p turnbuckle --test it one_handler` updates the page; read the
//! difference before you commit it.
//! the difference before you keep it.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};
use turnbuckle::{Client, Revision, client::Answers, prelude::*};
use turnbuckle_testing::{Side, record};

// [the handler]
/// Books a seat on a flight.
#[tool]
async fn book(Ask(ask): Ask, flight: String) -> Result<String, ToolError> {
    let price = ask.memo("price", async { quote(&flight) }).await?;
    let seat = ask
        .form::<Seat>("seat", format!("{flight} costs {price} €. Which row?"))
        .or(Answer::Accepted(Seat { row: 30 }));
    let Answer::Accepted(seat) = seat.await? else {
        return Ok("nothing was booked".into());
    };
    Ok(format!("row {} on {flight} for {price} €", seat.row))
}

#[derive(Form)]
struct Seat {
    /// Counted from the front.
    #[form(min = 1, max = 30)]
    row: u8,
}
// [end]

#[expect(clippy::unnecessary_wraps, reason = "a real quote can fail")]
fn quote(flight: &str) -> Result<usize, ToolError> {
    Ok(30 * flight.len())
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/one-handler.md");

#[tokio::test]
async fn the_page_shows_what_passes() {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut written = section(
        &page,
        "the handler",
        &format!("```rust\n{}```\n", handler()),
    );
    for &revision in Revision::ALL {
        let transcript = format!("```text\n{}```\n", transcript(revision).await);
        written = section(&written, revision.as_str(), &transcript);
    }
    if std::env::var_os("TURNBUCKLE_WRITE_DOCS").is_some() {
        fs::write(PAGE, &written).unwrap();
        return;
    }
    let page_name = Path::new(PAGE).file_name().unwrap().display();
    assert!(
        page == written,
        "{page_name} shows something else; see the top of this file. It should be\n{written}"
    );
}

/// The page with the text between the two marks of a section replaced.
fn section(page: &str, name: &str, text: &str) -> String {
    let start = format!("<!-- [{name}] -->\n");
    let (before, rest) = page
        .split_once(&start)
        .unwrap_or_else(|| panic!("the page has no {start}"));
    let (_, after) = rest
        .split_once("<!-- [end] -->\n")
        .expect("the section ends");
    format!("{before}{start}{text}<!-- [end] -->\n{after}")
}

/// The handler as it is written in this file.
fn handler() -> &'static str {
    let (_, code) = include_str!("one_handler.rs")
        .split_once("// [the handler]\n")
        .expect("it begins");
    let (code, _) = code.split_once("// [end]\n").expect("it ends");
    code
}

/// The messages from the call to its result.
async fn transcript(revision: Revision) -> String {
    let server = Server::new("booking", "1.0.0").tool(book).build().unwrap();
    let (end, recorded) = record(&server);
    let answers = Answers::new().on_form(|_| async {
        Ok(serde_json::from_value(
            json!({"action": "accept", "content": {"row": 7}}),
        )?)
    });
    let client = Client::new("my-app", "1.0.0").answering(answers);
    let client = client.only(revision).connect(end).await.unwrap();
    let said = client.call("book", json!({"flight": "XY1"})).await.unwrap();
    let row = if revision < Revision::V2025_06_18 {
        30
    } else {
        7
    };
    assert_eq!(said.text(), format!("row {row} on XY1 for 90 €"));

    let lines = recorded.lines();
    let is_call = |message: &Value| message["method"] == "tools/call";
    let calls = lines.iter().skip_while(|line| !is_call(&line.message));
    calls.fold(String::new(), |mut text, line| {
        let mark = match line.from {
            Side::Client => '>',
            Side::Server => '<',
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{mark} {}", legible(line.message.clone()));
        text
    })
}

/// Leaves out values that differ each time, and long ones that do not matter here.
fn legible(mut message: Value) -> Value {
    for place in ["/params/requestState", "/result/requestState"] {
        if let Some(state) = message.pointer_mut(place) {
            *state = "(sealed)".into();
        }
    }
    for place in ["/params/_meta", "/result/_meta"] {
        let Some(meta) = message.pointer_mut(place).and_then(Value::as_object_mut) else {
            continue;
        };
        meta.shift_remove("io.modelcontextprotocol/clientInfo");
        meta.shift_remove("io.modelcontextprotocol/serverInfo");
    }
    if let Some(result) = message
        .pointer_mut("/result")
        .and_then(Value::as_object_mut)
        && result.get("_meta") == Some(&json!({}))
    {
        result.shift_remove("_meta");
    }
    message
}
