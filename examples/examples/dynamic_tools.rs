//! A catalog that changes while the server runs. Clients are notified of changes.
//!
//! ```text
//! cargo run -p examples --example dynamic_tools
//! ```

use turnbuckle::{Catalog, prelude::*};

/// Teaches the server a phrase, which is a tool from then on.
#[tool]
async fn learn(
    #[extract] catalog: Catalog,
    name: String,
    phrase: String,
) -> Result<String, ToolError> {
    let said = phrase.clone();
    let tool = Tool::new(name.clone(), move || std::future::ready(said.clone()));
    catalog.add_tool(tool.about(format!("Says “{phrase}”.")).read_only())?;
    Ok(format!("`{name}` is learnt"))
}

/// Unlearns a phrase.
#[tool]
async fn forget(#[extract] catalog: Catalog, name: String) -> Result<String, ToolError> {
    if catalog.remove_tool(&name) {
        Ok(format!("`{name}` is forgotten"))
    } else {
        Err(ToolError::new(format!("there is no `{name}` to forget")))
    }
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .tool(learn)
        .tool(forget)
        .serve(Stdio)
        .await
}
