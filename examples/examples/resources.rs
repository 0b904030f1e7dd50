//! Resources: at one URI, and at all URIs of a template. Text, bytes and JSON.
//!
//! ```text
//! cargo run -p examples --example resources
//! ```

use serde::Serialize;
use turnbuckle::{Reject, prelude::*};

const PLANETS: [(&str, u32); 3] = [("mercury", 4_879), ("venus", 12_104), ("earth", 12_756)];

/// The names of the planets.
#[resource("space://planets", mime_type = "text/plain")]
async fn planets() -> String {
    PLANETS.map(|(name, _)| name).join("\n")
}

/// A picture of deep space.
#[resource("space://picture", mime_type = "image/x-portable-pixmap")]
async fn picture() -> Vec<u8> {
    b"P6 1 1 255 \0\0\0".to_vec()
}

#[derive(Serialize)]
struct Planet {
    name: &'static str,
    kilometres: u32,
}

/// One planet. The variable of the template is the parameter of the same name.
#[resource("space://planets/{name}")]
async fn planet(
    #[complete(["mercury", "venus", "earth"])] name: String,
) -> Result<Json<Planet>, Reject> {
    PLANETS
        .into_iter()
        .find(|(known, _)| *known == name)
        .map(|(name, kilometres)| Json(Planet { name, kilometres }))
        .ok_or_else(|| Reject::resource_not_found(&format!("space://planets/{name}")))
}

/// A page of the archive. `{+path}` may have slashes, but never `..`.
#[resource("space://archive/{+path}{?page}", mime_type = "text/plain")]
async fn archive(path: String, page: Option<u32>) -> String {
    format!("page {} of {path}", page.unwrap_or(1))
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .resource(planets)
        .resource(picture)
        .resource(planet)
        .resource(archive)
        .serve(Stdio)
        .await
}
