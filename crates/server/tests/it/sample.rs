//! The server of the transcripts, which has one of everything that differs by revision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle_protocol::{
    Annotations, ContentBlock, Icon, Implementation, Meta, PromptMessage, ReadResourceResult,
    ResourceContents, Role, TextContent, TextResourceContents,
};
use turnbuckle_server::{
    Args, Audio, Image, Json, LiveServer, Prompt, Resource, Server, Tool, ToolError,
};

#[derive(Deserialize, JsonSchema)]
struct Leg {
    /// Where the leg starts.
    from: String,
    /// How many hours it takes.
    hours: u32,
}

#[derive(Serialize, JsonSchema)]
struct Arrival {
    /// Where the leg started.
    from: String,
    /// Hours until arrival.
    hours: u32,
}

async fn arrive(Args(Leg { from, hours }): Args<Leg>) -> Json<Arrival> {
    Json(Arrival { from, hours })
}

async fn heights() -> Json<Vec<u32>> {
    Json(vec![4808, 8849])
}

fn dated() -> Annotations {
    Annotations::new()
        .with_audience(vec![Role::User])
        .with_priority(0.5)
        .with_last_modified("2026-01-02T03:04:05Z")
}

fn marked() -> Meta {
    Meta::new().with("example.com/mark", 7)
}

async fn postcard() -> Vec<ContentBlock> {
    let text = TextContent::new("greetings")
        .with_annotations(dated())
        .with_meta(marked());
    let link =
        turnbuckle_protocol::Resource::new("map://alps", "alps").with_description("The Alps.");
    let embedded = TextResourceContents::new("map://dot", ".").with_meta(marked());
    vec![
        text.into(),
        Image::new("image/png", [1, 2, 3]).into(),
        Audio::new("audio/wav", [4, 5, 6]).into(),
        ContentBlock::link(link),
        ContentBlock::resource(embedded),
    ]
}

async fn lose() -> Result<&'static str, ToolError> {
    Err(ToolError::new("the map is lost"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pace {
    Slow,
    Fast,
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where to.
    city: String,
    /// How many days.
    days: Option<u32>,
    pace: Option<Pace>,
}

async fn plan(Args(trip): Args<Trip>) -> Vec<PromptMessage> {
    let days = trip.days.unwrap_or(1);
    let pace = match trip.pace {
        Some(Pace::Fast) => "fast",
        Some(Pace::Slow) | None => "slow",
    };
    vec![
        PromptMessage::user(format!("{days} days in {}, {pace}", trip.city)),
        PromptMessage::assistant(Audio::new("audio/wav", [7])),
    ]
}

async fn legend() -> ReadResourceResult {
    let text = TextResourceContents::new("", "a dot is a town").with_meta(marked());
    ReadResourceResult::new(vec![ResourceContents::Text(text)])
}

#[derive(Deserialize, JsonSchema)]
struct Tile {
    x: u32,
    y: u32,
}

async fn tile(Args(Tile { x, y }): Args<Tile>) -> Vec<u8> {
    format!("{x}/{y}").into_bytes()
}

fn icon() -> Icon {
    Icon::new("https://example.com/icon.png")
        .with_mime_type("image/png")
        .with_size("48x48")
}

/// The description of the server in modern results.
pub(crate) fn info() -> Implementation {
    Implementation::new("atlas", "1.2.0")
        .with_title("Atlas")
        .with_description("Maps and trips.")
        .with_website_url("https://example.com/atlas")
        .with_icon(icon())
}

pub(crate) fn server() -> LiveServer {
    Server::new("atlas", "1.2.0")
        .title("Atlas")
        .about("Maps and trips.")
        .website("https://example.com/atlas")
        .icon(icon())
        .instructions("Ask for a leg before you plan a trip.")
        .tool(
            Tool::new("arrive", arrive)
                .title("Arrival")
                .about("When a leg ends.")
                .read_only()
                .icon(icon())
                .meta("example.com/mark", 7),
        )
        .tool(Tool::new("heights", heights))
        .tool(Tool::new("postcard", postcard))
        .tool(Tool::new("lose", lose).destructive())
        .prompt(
            Prompt::new("plan", plan)
                .title("Plan")
                .about("Plans a trip.")
                .icon(icon())
                .meta("example.com/mark", 7)
                .complete("city", ["Basel", "Bern", "Lugano"]),
        )
        .resource(
            Resource::new("map://legend", legend)
                .name("legend")
                .title("Legend")
                .about("What the signs mean.")
                .mime_type("text/plain")
                .size(15)
                .annotations(dated())
                .icon(icon())
                .meta("example.com/mark", 7),
        )
        .resource(
            Resource::new("tile://{x}/{y}", tile)
                .name("tile")
                .title("Tile")
                .mime_type("application/x-tile")
                .annotations(dated())
                .icon(icon())
                .meta("example.com/mark", 7),
        )
        .build()
        .expect("the sample is a server")
}
