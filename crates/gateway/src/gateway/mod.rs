//! `Gateway`, which configures a gateway, and `LiveGateway`, the running gateway.

mod builder;
mod live;
mod lock;
mod mount;

pub use builder::Gateway;
pub use live::LiveGateway;
pub use mount::Mount;
