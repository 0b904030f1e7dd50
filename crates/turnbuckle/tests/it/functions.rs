//! Functions with attributes: how a client sees them, and that they remain ordinary functions.

use serde_json::{Value, json};
use turnbuckle::{
    Args, Json, Progress, Prompt, Resource, Server, State, Tool, ToolError, Uri, prompt, resource,
    tool,
};

use crate::wire::Wire;

#[derive(Clone)]
struct Fares(u32);

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Ticket {
    flight: String,
    row: u32,
    price: u32,
}

/// Book a seat.
///
/// One for each call.
#[tool(
    destructive,
    title = "Book",
    idempotent,
    closed_world,
    icon = "https://example.com/i.png"
)]
async fn book(
    State(Fares(price)): State<Fares>,
    #[extract] progress: Progress,
    /** Flight number. */
    flight: String,
    #[schemars(range(min = 1))]
    #[arg(rename = "rowNumber", default = 7, header = "Row")]
    row: u32,
    /// For whom:
    /// the passport's spelling.
    r#for: Option<String>,
) -> Result<Json<Ticket>, ToolError> {
    progress.at(1.0).await;
    if r#for.is_some_and(|name| name.is_empty()) {
        return Err(ToolError::new("say for whom"));
    }
    Ok(Json(Ticket { flight, row, price }))
}

#[tool(name = "fares.list", read_only, about = "All fares.")]
async fn list_fares() -> &'static str {
    "none"
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    left: i64,
    right: i64,
}

#[tool(strict)]
async fn add(Args(Sum { left, right }): Args<Sum>) -> String {
    (left + right).to_string()
}

/// Depth by recursion, and an argument named like the function.
#[tool]
async fn depth(depth: u32) -> u32 {
    if depth == 0 {
        0
    } else {
        1 + Box::pin(self::depth(depth - 1)).await
    }
}

async fn cities(partial: String) -> Vec<String> {
    vec![format!("{partial}ern"), format!("{partial}lin")]
}

/// Plan a trip.
#[prompt(title = "Plan")]
async fn plan(
    #[complete(cities)] city: String,
    #[complete(["2", "7"])] days: Option<u8>,
) -> String {
    format!("{} days in {city}", days.unwrap_or(2))
}

/// Who sits where.
#[resource("seat://{flight}/{row}", mime_type = "text/plain", title = "Seats")]
async fn seat(#[complete(cities)] flight: String, row: u32) -> String {
    format!("{flight} row {row}")
}

#[resource("config://app", name = "settings", size = 4)]
async fn config(Uri(uri): Uri) -> String {
    uri
}

fn server() -> Server {
    Server::new("booking", "1.0.0")
        .state(Fares(90))
        .tool(book)
        .tool(list_fares)
        .tool(add)
        .tool(depth)
        .prompt(plan)
        .resource(seat)
        .resource(config)
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let entries = list.as_array().expect("a list");
    entries
        .iter()
        .find(|entry| entry["name"] == name)
        .expect(name)
}

#[tokio::test]
async fn a_function_stays_a_function() {
    assert_eq!(add(Args(Sum { left: 1, right: 2 })).await, "3");
    assert_eq!(depth(3).await, 3);
    assert_eq!(plan("Bonn".to_owned(), None).await, "2 days in Bonn");
    let spawned = tokio::spawn(seat("XY1".to_owned(), 4));
    assert_eq!(spawned.await.expect("it does not panic"), "XY1 row 4");
}

#[tokio::test]
async fn the_list_says_what_the_attributes_say() {
    let mut wire = Wire::open(server()).await;
    let tools = wire.request("tools/list", json!({})).await["tools"].take();
    let book = named(&tools, "book");
    assert_eq!(book["title"], "Book");
    assert_eq!(book["description"], "Book a seat.\n\nOne for each call.");
    assert_eq!(
        book["annotations"],
        json!({ "destructiveHint": true, "idempotentHint": true, "openWorldHint": false })
    );
    assert_eq!(book["icons"][0]["src"], "https://example.com/i.png");
    assert_eq!(
        book["outputSchema"]["properties"]["flight"]["type"],
        "string"
    );
    let fares = named(&tools, "fares.list");
    assert_eq!(fares["description"], "All fares.");
    assert_eq!(fares["annotations"], json!({ "readOnlyHint": true }));
    wire.close().await;
}

#[tokio::test]
async fn parameters_become_the_input_schema() {
    let mut wire = Wire::open(server()).await;
    let tools = wire.request("tools/list", json!({})).await["tools"].take();
    let schema = &named(&tools, "book")["inputSchema"];
    assert_eq!(schema["required"], json!(["flight"]));
    let properties = &schema["properties"];
    assert_eq!(properties["flight"]["description"], "Flight number.");
    assert_eq!(properties["rowNumber"]["default"], 7);
    assert_eq!(properties["rowNumber"]["minimum"], 1);
    assert_eq!(
        properties["for"]["description"],
        "For whom:\nthe passport's spelling."
    );
    assert!(properties.get("progress").is_none(), "{properties}");
    assert!(properties.get("row").is_none(), "{properties}");
    wire.close().await;
}

#[tokio::test]
async fn calls_reach_the_function() {
    let mut wire = Wire::open(server()).await;
    let arguments = json!({ "flight": "XY1", "rowNumber": 3 });
    let params = json!({ "name": "book", "arguments": arguments });
    let booked = wire.request("tools/call", params).await;
    let ticket = json!({ "flight": "XY1", "row": 3, "price": 90 });
    assert_eq!(booked["structuredContent"], ticket);
    let defaulted = wire.call("book", json!({ "flight": "XY1" })).await;
    assert!(defaulted.contains("\"row\":7"), "{defaulted}");
    let refused = wire
        .call("book", json!({ "flight": "XY1", "for": "" }))
        .await;
    assert_eq!(refused, "say for whom");
    assert_eq!(wire.call("fares.list", json!({})).await, "none");
    assert_eq!(
        wire.call("add", json!({ "left": 1, "right": 2 })).await,
        "3"
    );
    assert_eq!(wire.call("depth", json!({ "depth": 2 })).await, "2");
    wire.close().await;
}

#[tokio::test]
async fn only_a_strict_tool_minds_the_type() {
    let mut wire = Wire::open(server()).await;
    assert_eq!(wire.call("depth", json!({ "depth": "2" })).await, "2");
    let strict = wire.call("add", json!({ "left": "1", "right": 2 })).await;
    assert!(strict.contains("left"), "{strict}");
    wire.close().await;
}

#[tokio::test]
async fn prompts_read_text_into_types() {
    let mut wire = Wire::open(server()).await;
    let prompts = wire.request("prompts/list", json!({})).await["prompts"].take();
    let prompt = named(&prompts, "plan");
    assert_eq!(prompt["title"], "Plan");
    assert_eq!(prompt["description"], "Plan a trip.");
    assert_eq!(prompt["arguments"][0]["name"], "city");
    assert_eq!(prompt["arguments"][0]["required"], true);
    assert_ne!(prompt["arguments"][1]["required"], true);
    let params = json!({ "name": "plan", "arguments": { "city": "Rome", "days": "5" } });
    let got = wire.request("prompts/get", params).await;
    assert_eq!(got["messages"][0]["content"]["text"], "5 days in Rome");
    wire.close().await;
}

#[tokio::test]
async fn resources_read_variables_into_types() {
    let mut wire = Wire::open(server()).await;
    let templates = wire.request("resources/templates/list", json!({})).await;
    let template = named(&templates["resourceTemplates"], "seat");
    assert_eq!(template["uriTemplate"], "seat://{flight}/{row}");
    assert_eq!(template["title"], "Seats");
    assert_eq!(template["mimeType"], "text/plain");
    let fixed = wire.request("resources/list", json!({})).await;
    let settings = named(&fixed["resources"], "settings");
    assert_eq!(
        (&settings["uri"], &settings["size"]),
        (&json!("config://app"), &json!(4))
    );
    let read = wire
        .request("resources/read", json!({ "uri": "seat://XY1/3" }))
        .await;
    assert_eq!(read["contents"][0]["text"], "XY1 row 3");
    let read = wire
        .request("resources/read", json!({ "uri": "config://app" }))
        .await;
    assert_eq!(read["contents"][0]["text"], "config://app");
    wire.close().await;
}

#[tokio::test]
async fn arguments_are_completed() {
    let mut wire = Wire::open(server()).await;
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "plan" },
        "argument": { "name": "city", "value": "B" }
    });
    let completed = wire.request("completion/complete", params).await;
    assert_eq!(completed["completion"]["values"], json!(["Bern", "Blin"]));
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "seat://{flight}/{row}" },
        "argument": { "name": "flight", "value": "X" }
    });
    let completed = wire.request("completion/complete", params).await;
    assert_eq!(completed["completion"]["values"], json!(["Xern", "Xlin"]));
    wire.close().await;
}

/// Never returns.
#[tool(timeout = "20ms", concurrency = 1)]
async fn endless(#[arg(default)] _words: Option<String>) -> &'static str {
    std::future::pending().await
}

#[tool(disabled, timeout = std::time::Duration::from_secs(1))]
async fn later(#[arg(default)] _words: Option<String>) -> &'static str {
    "not yet"
}

#[tokio::test]
async fn the_limits_of_a_tool_are_options() {
    let mut wire = Wire::open(Server::new("s", "1").tool(endless).tool(later)).await;
    let listed = wire.request("tools/list", json!({})).await;
    let names: Vec<&Value> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["endless"]);
    // The second call runs when the first is over.
    for _ in 0..2 {
        let ended = wire
            .request("tools/call", json!({"name": "endless", "arguments": {}}))
            .await;
        assert_eq!(ended["isError"], true);
        let text = ended["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("20ms"), "{text}");
    }
    wire.close().await;
}

#[tokio::test]
async fn what_an_attribute_made_can_be_changed() {
    let server = Server::new("s", "1")
        .state(Fares(90))
        .tool(Tool::from_function(book).title("Reserve"))
        .prompt(Prompt::from_function(plan).title("Itinerary"))
        .resource(Resource::from_function(config).title("Settings"));
    let mut wire = Wire::open(server).await;
    for (list, title) in [
        ("tools", "Reserve"),
        ("prompts", "Itinerary"),
        ("resources", "Settings"),
    ] {
        let listed = wire.request(&format!("{list}/list"), json!({})).await;
        assert_eq!(listed[list][0]["title"], title, "{listed}");
    }
    let booked = wire.call("book", json!({"flight": "TB 1"})).await;
    assert!(booked.contains("TB 1"), "{booked}");
    wire.close().await;
}
