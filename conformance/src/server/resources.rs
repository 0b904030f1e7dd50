//! Resources: text, bytes, a template, and one to watch.

use turnbuckle::resource;

use super::content::PNG;

/// A text that never changes.
#[resource("test://static-text", mime_type = "text/plain")]
pub(crate) async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// An image that never changes.
#[resource("test://static-binary", mime_type = "image/png")]
pub(crate) async fn static_binary() -> Vec<u8> {
    PNG.to_vec()
}

/// Data by its id.
#[resource("test://template/{id}/data", mime_type = "application/json")]
pub(crate) async fn template(
    /** The id. */
    id: String,
) -> String {
    serde_json::json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
        .to_string()
}

/// A text that clients may subscribe to.
#[resource("test://watched-resource", mime_type = "text/plain")]
pub(crate) async fn watched() -> &'static str {
    "Watched resource content."
}
