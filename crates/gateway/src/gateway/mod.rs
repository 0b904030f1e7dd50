//! The gateway as it is written, and as it runs.

mod builder;
mod live;
mod lock;
mod mount;

pub use builder::Gateway;
pub use live::LiveGateway;
pub use mount::Mount;
