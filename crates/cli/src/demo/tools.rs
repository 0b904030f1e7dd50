//! Tools: every kind of argument, content and outcome.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{
    Audio, CallToolResult, Catalog, ClientInfo, ContentBlock, Image, Json, Progress, ResourceLink,
    Tool, ToolError,
    protocol::{EmbeddedResource, Resource, TextResourceContents},
    tool,
};

use super::resources;

/// Returns its text.
#[tool(read_only, title = "Echo")]
pub(super) async fn echo(
    /** What to say. */
    text: String,
) -> String {
    text
}

/// The sum of two numbers.
#[derive(Serialize, JsonSchema)]
pub(super) struct Sum {
    /// The sum.
    sum: i64,
}

/// Adds two integers, as structured content with an output schema.
#[tool(read_only, idempotent)]
pub(super) async fn add(
    /** The first number. */
    a: i64,
    /** The second number. */
    b: i64,
) -> Result<Json<Sum>, ToolError> {
    let sum = a
        .checked_add(b)
        .ok_or_else(|| ToolError::new("the sum does not fit 64 bits"))?;
    Ok(Json(Sum { sum }))
}

/// A unit of temperature.
#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unit {
    #[default]
    Celsius,
    Fahrenheit,
}

/// The weather at one place.
#[derive(Serialize, JsonSchema)]
pub(super) struct Weather {
    /// The place asked for.
    place: String,
    /// The temperature.
    temperature: f64,
    /// Its unit.
    unit: Unit,
    /// What the sky looks like.
    sky: String,
}

/// Tells the weather (made up, but always the same for the same place).
#[tool(read_only, open_world)]
pub(super) async fn weather(
    /** A city. */
    #[schemars(length(min = 1))]
    place: String,
    /** The unit; Celsius unless said. */
    unit: Option<Unit>,
) -> Json<Weather> {
    let unit = unit.unwrap_or_default();
    let seed = place.bytes().map(u32::from).sum::<u32>();
    let celsius = f64::from(seed % 350) / 10.0;
    let temperature = match unit {
        Unit::Celsius => celsius,
        Unit::Fahrenheit => celsius * 1.8 + 32.0,
    };
    let sky = ["clear", "cloudy", "rain"][seed as usize % 3].to_owned();
    Json(Weather {
        place,
        temperature,
        unit,
        sky,
    })
}

/// Gives a small picture.
#[tool(read_only)]
pub(super) async fn picture() -> Image {
    Image::new("image/png", resources::logo_png())
}

/// Gives a short beep.
#[tool(read_only)]
pub(super) async fn sound() -> Audio {
    Audio::new("audio/wav", beep())
}

/// Points to a resource without sending it.
#[tool(read_only)]
pub(super) async fn link() -> ResourceLink {
    let resource = Resource::new("demo://readme", "readme")
        .with_mime_type("text/markdown")
        .with_description("What this server is.");
    ResourceLink::from(resource)
}

/// Sends a resource along with the result.
#[tool(read_only)]
pub(super) async fn attach() -> EmbeddedResource {
    let contents = TextResourceContents::new("demo://readme", resources::README);
    EmbeddedResource::new(contents.with_mime_type("text/markdown"))
}

/// Gives one block of every kind of content.
#[tool(read_only)]
pub(super) async fn everything() -> CallToolResult {
    CallToolResult::new(vec![
        ContentBlock::text("Text, a picture, sound, a link and an attachment:"),
        picture().await.into(),
        sound().await.into(),
        link().await.into(),
        attach().await.into(),
    ])
}

/// Counts slowly, with progress; cancel it if it takes too long.
#[tool(read_only)]
pub(super) async fn count(
    #[extract] progress: Progress,
    /** How far to count. */
    #[schemars(range(min = 1, max = 1000))]
    to: u32,
    /** Milliseconds between two numbers; 100 unless said. */
    pause: Option<u64>,
) -> String {
    let pause = Duration::from_millis(pause.unwrap_or(100).min(60_000));
    for number in 1..=to {
        tokio::time::sleep(pause).await;
        progress
            .of(number, to)
            .say(format!("counted {number}"))
            .await;
    }
    format!("counted to {to}")
}

/// Fails, and says why: a result with `isError`.
#[tool]
pub(super) async fn fail(
    /** Why it fails. */
    reason: Option<String>,
) -> Result<String, ToolError> {
    Err(ToolError::new(
        reason.unwrap_or_else(|| "it was asked to".into()),
    ))
}

/// Panics: the call ends with an internal error, the server goes on.
#[tool]
#[expect(
    clippy::panic,
    reason = "this tool shows what a panic does to a server"
)]
pub(super) async fn crash() -> String {
    panic!("the demo's `crash` tool was called")
}

/// Prints to this process's standard output, which on stdio belongs to the protocol: clients must
/// see nothing of it.
#[tool]
pub(super) async fn print(
    /** What to print. */
    text: String,
    /** Whether a child process prints it. */
    #[arg(default)]
    by_child: bool,
) -> Result<&'static str, ToolError> {
    if by_child {
        std::process::Command::new("echo").arg(text).status()?;
    } else {
        println!("{text}");
    }
    Ok("printed")
}

/// Tells what the client says of itself.
#[tool(read_only)]
pub(super) async fn whoami(#[extract] client: ClientInfo) -> String {
    let name = client.info.map_or_else(
        || "a client without a name".to_owned(),
        |info| format!("{} {}", info.name, info.version),
    );
    let offers = serde_json::to_string(&client.capabilities).unwrap_or_default();
    format!("{name}, offering {offers}")
}

/// One line of an order.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(super) struct Item {
    /// What.
    article: String,
    /// How many.
    #[schemars(range(min = 1))]
    count: u32,
}

/// How an order is delivered.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
pub(super) enum Delivery {
    /// Fetched by the customer.
    Pickup {
        /// Which shop.
        shop: String,
    },
    /// Sent by post.
    Post {
        /// Where to.
        address: String,
        /// Whether it is urgent.
        #[serde(default)]
        express: bool,
    },
}

/// Takes an order: nested objects, lists and variants as arguments.
#[tool(additive)]
pub(super) async fn order(
    /** What is ordered. */
    items: Vec<Item>,
    /** How it gets there. */
    delivery: Delivery,
    /** A note for the packer. */
    note: Option<String>,
) -> Result<String, ToolError> {
    let count: u64 = items.iter().map(|item| u64::from(item.count)).sum();
    if count == 0 {
        return Err(ToolError::new("an order needs at least one item"));
    }
    let way = match delivery {
        Delivery::Pickup { shop } => format!("to be fetched at {shop}"),
        Delivery::Post {
            address,
            express: true,
        } => format!("by express to {address}"),
        Delivery::Post {
            address,
            express: false,
        } => format!("by post to {address}"),
    };
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    Ok(format!("{count} articles, {way}{note}"))
}

/// Adds a tool to this server; clients are told that the list changed.
#[tool(additive)]
pub(super) async fn grow(
    #[extract] catalog: Catalog,
    /** The name of the new tool. */
    name: String,
) -> Result<String, ToolError> {
    let said = format!("I am `{name}`, and I was not here before.");
    let tool = Tool::new(name.clone(), move || std::future::ready(said.clone()));
    catalog.add_tool(tool.about("Grown while the server ran.").read_only())?;
    Ok(format!("there is a tool `{name}` now"))
}

/// Removes a tool from this server; clients are told that the list changed.
#[tool(destructive)]
pub(super) async fn shrink(
    #[extract] catalog: Catalog,
    /** The name of the tool. */
    name: String,
) -> Result<String, ToolError> {
    if catalog.remove_tool(&name) {
        Ok(format!("the tool `{name}` is gone"))
    } else {
        Err(ToolError::new(format!("there is no tool `{name}`")))
    }
}

/// A fifth of a second of 440 Hz: a WAV file of 8-bit samples, 8,000 a second.
fn beep() -> Vec<u8> {
    const RATE: u32 = 8_000;
    const SAMPLES: u32 = RATE / 5;
    let mut file = Vec::new();
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + SAMPLES).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    file.extend_from_slice(&[1, 0, 1, 0]);
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&[1, 0, 8, 0]);
    file.extend_from_slice(b"data");
    file.extend_from_slice(&SAMPLES.to_le_bytes());
    // A square wave: high for half of each period, low for the other.
    file.extend((0..SAMPLES).map(|sample| {
        if (sample * 880 / RATE).is_multiple_of(2) {
            160
        } else {
            96
        }
    }));
    file
}
