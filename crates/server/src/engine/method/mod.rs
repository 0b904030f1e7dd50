//! The methods of the protocol, one file for each, and the router.

mod completion_complete;
mod extension;
mod initialize;
mod list;
mod logging_set_level;
mod prompts_get;
mod resources_list;
mod resources_read;
mod resources_subscribe;
mod route;
mod server_discover;
mod subscriptions_listen;
mod tools_call;
#[cfg(feature = "http")]
mod tools_call_again;

#[cfg(feature = "http")]
pub(crate) use initialize::{kept_bytes, kept_of};
#[cfg(feature = "http")]
pub(crate) use route::serve;
pub(crate) use route::serve_on_line;
#[cfg(feature = "http")]
pub(crate) use tools_call_again::StartAgain;
