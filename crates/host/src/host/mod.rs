//! `Host`: the running host, its builder, and the operations on it.

mod answers;
mod builder;
mod call;
mod conversation;
mod handle;
mod permissions;
mod plan;
mod reload;
mod resources;
mod shared;
mod watch;

pub use builder::HostBuilder;
pub use call::HostCall;
pub use conversation::Conversation;
pub use handle::{Host, ServerStatus};
pub use plan::ConfigNote;
pub use reload::Reloaded;
pub use resources::{ResourceUpdate, UpdateStream};
