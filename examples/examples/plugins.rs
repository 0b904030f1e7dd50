//! A server that starts empty and gets its tools later, from somewhere else in the program. Clients
//! that are connected are notified.
//!
//! ```text
//! cargo run -p examples --example plugins
//! ```

use serde_json::json;
use turnbuckle::{Catalog, SetupError, prelude::*};

/// Loads a plugin: its tools appear together, and clients are notified once.
fn load(catalog: &Catalog, tools: &[&'static str]) -> Result<(), SetupError> {
    let mut edit = catalog.edit();
    for &name in tools {
        // A closure with captured values can be a handler if each call gets its own copy.
        let tool = Tool::new(name, move || async move { format!("{name} ran") });
        edit = edit.add_tool(tool.about(format!("Runs {name}.")));
    }
    edit.apply()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = turnbuckle::server!().build()?;
    let catalog = server.catalog();

    let client = Client::new("host", "1.0.0");
    let connection = client.connect(server.connect()).await?;
    println!("{} tools at the start", connection.tools().await?.len());

    let mut news = connection.listen(Listen::new().tools()).await?;
    load(&catalog, &["lint", "format"])?;
    if let Some(change) = news.next().await {
        println!("{:?}", change?);
    }
    println!("{} tools after the plugin", connection.tools().await?.len());
    let said = connection.call("format", json!({})).await?;
    println!("{}", said.ok()?.text());
    Ok(())
}
