//! MCP Apps (`io.modelcontextprotocol/ui`): tools that come with a user interface.
//!
//! An app is a page of HTML that a server offers as a resource at a `ui://` address, and that a
//! tool names in its `_meta.ui`. A host that knows the extension shows the page in a sandbox when
//! the tool is called; every other client calls the tool as ever and reads its text. So a tool
//! always gives text (or structured content, which is text too), and the page is an addition.
//!
//! A server writes apps with [`App`] and serves them with [`Apps`]:
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
//! A host declares that it can show pages, asks [`host`] which tools the model may see, and opens
//! the page of a tool with [`host::open`], which checks it and computes the policy to show it under.

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
