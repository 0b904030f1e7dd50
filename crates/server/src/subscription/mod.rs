//! Subscriptions: changes, and the clients that listen to them.
//!
//! A change is published once, from anywhere, with [`Changes`]. The fan-out of `store` carries it
//! to every replica; each has a [`Hub`] that knows the listeners of each topic. The notification is
//! the same for all listeners except for the id of their request, so it is serialized once for each
//! topic and copied.
//!
//! A listener remembers which of its topics changed, but not how often: a slow listener gets one
//! notification for each when it reads again. So no change is lost, no queue grows, and publishers
//! never wait.

mod changes;
mod hub;
mod limits;
mod listener;
mod notice;
mod publisher;
#[cfg(feature = "http")]
mod recent;
mod topic;

pub use changes::Changes;
pub(crate) use hub::Hub;
pub use limits::ListenerLimits;
pub(crate) use limits::TooMany;
pub(crate) use listener::Listener;
pub(crate) use notice::NoticeOf;
pub use notice::UpdateNotice;
pub(crate) use topic::Subject;
