//! Apps in a host: which tools have a page, who may call which tool, and what a page is allowed to do.
//!
//! ```no_run
//! use turnbuckle_apps::{Ui, UiClient, host};
//! use turnbuckle_client::Client;
//!
//! # async fn run(target: turnbuckle_client::Target) -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("my-host", "1.0.0").declare::<Ui>(&UiClient::default());
//! let server = client.connect(target).await?;
//! let tools = server.tools().await?;
//! for tool in tools.iter().filter(|tool| host::is_for_model(tool)) {
//!     println!("the model may call {}", tool.name);
//!     if let Some(view) = host::open(&server, tool).await? {
//!         println!("shown under {}", view.policy());
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! A page is a third-party program. Show it in a sandboxed frame that has an origin of its own and the policy
//! [`View::policy`]. Let it call only tools of its own server, and only if [`View::check_call`] allows it.

mod error;
mod link;
mod policy;
mod view;

pub use error::AppError;
pub use link::{is_for_app, is_for_model, page_of};
pub use policy::Policy;
pub use view::{MAX_PAGE_BYTES, View, open};
