//! Resources: text, bytes, JSON, and templates with typed variables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{Json, Reject, resource};

pub(super) const README: &str =
    "# Turnbuckle demo\n\nOne example of everything a client may meet.\n";

/// What this server is.
#[resource("demo://readme", mime_type = "text/markdown", title = "Read me")]
pub(super) async fn readme() -> &'static str {
    README
}

/// A picture of one colour.
#[resource("demo://logo.png", mime_type = "image/png")]
pub(super) async fn logo() -> Vec<u8> {
    logo_png()
}

/// A weather station.
#[derive(Serialize)]
pub(super) struct Station {
    city: String,
    number: u16,
    is_online: bool,
}

/// A line of stations.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StationLine {
    North,
    South,
}

/// A weather station, by city and number.
#[resource("demo://stations/{city}/{number}", mime_type = "application/json")]
pub(super) async fn station(
    /** The city. */
    #[complete(cities)]
    city: String,
    /** The station's number in the city. */
    number: u16,
) -> Result<Json<Station>, Reject> {
    if !CITIES.contains(&&*city) {
        return Err(Reject::resource_not_found(&format!(
            "demo://stations/{city}/{number}"
        )));
    }
    Ok(Json(Station {
        city,
        number,
        is_online: number.is_multiple_of(2),
    }))
}

/// The timetable of a line.
#[resource("demo://timetables/{line}{?day}")]
pub(super) async fn table(
    /** The line. */
    line: StationLine,
    /** A day of the week. */
    day: Option<String>,
) -> String {
    let line = match line {
        StationLine::North => "north",
        StationLine::South => "south",
    };
    format!(
        "{line}, {}: every ten minutes",
        day.as_deref().unwrap_or("every day")
    )
}

/// A document by its path. No path leaves the folder: such URIs match nothing.
#[resource("demo://documents/{+path}", mime_type = "text/plain")]
pub(super) async fn document(
    /** The path, with slashes. */
    path: String,
) -> String {
    format!("The document at {path}.")
}

const CITIES: [&str; 6] = ["Basel", "Berlin", "Bern", "London", "Lyon", "Oslo"];

async fn cities(partial: String) -> Vec<&'static str> {
    let partial = partial.to_lowercase();
    CITIES
        .into_iter()
        .filter(|city| city.to_lowercase().starts_with(&partial))
        .collect()
}

/// One pixel: the smallest picture that every client can show.
pub(super) fn logo_png() -> Vec<u8> {
    vec![
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2,
        0, 0, 0, 144, 119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 120, 156, 99, 248, 207, 192, 0, 0,
        3, 1, 1, 0, 201, 254, 146, 239, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]
}
