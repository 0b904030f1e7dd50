//! MCP Apps (`io.modelcontextprotocol/ui`): tools that come with a user interface.
//!
//! An app is an HTML page that a server offers as a resource with a `ui://` URI, and that a tool names in
//! its `_meta.ui`. A host that supports the extension shows the page in a sandbox when the tool is
//! called. Every other client calls the tool as usual and reads its text. So a tool always returns
//! text (or structured content, which is also sent as text), and the page is an addition.
//!
//! On a server, write apps with [`App`] and serve them with [`Apps`]:
//!
//! ```
//! # #[cfg(feature = "server")] {
//! use turnbuckle_apps::{App, Apps, Csp};
//! use turnbuckle_server::{Server, Tool};
//!
//! async fn weather() -> &'static str { "9 °C" }
//! async fn refresh() -> &'static str { "10 °C" }
//!
//! let app = App::html("ui://weather/today", "<!doctype html><p id=weather>")
//!     .csp(Csp::new().connect("https://api.weather.example"))
//!     .tool(Tool::new("weather", weather))
//!     .app_tool(Tool::new("weather-refresh", refresh));
//! let server = Server::new("weather", "1.0.0").extension(Apps::new().app(app));
//! # }
//! ```
//!
//! A host declares that it can show pages, uses the functions in [`host`] to find the tools that the model may see,
//! and opens the page of a tool with [`host::open`], which checks the page and computes its policy.

#[cfg(feature = "client")]
pub mod host;
mod meta;
#[cfg(feature = "server")]
mod server;
mod ui;

pub use meta::{Csp, Permissions, ResourceUi, ToolUi, Visibility};
#[cfg(feature = "server")]
pub use server::{App, Apps, UiTool};
pub use ui::{MIME_TYPE, SCHEME, Ui, UiClient, UiServer};
