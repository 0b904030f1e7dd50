//! Subscriptions: what changed, and everybody who wants to hear of it.
//!
//! A change is published once, from anywhere, with [`Changes`]. The fan-out of `store` carries it
//! to every replica; each has a [`Hub`] that knows who listens to what. What a listener is told is
//! the same for everybody but for the id of its request, so a topic is written once and copied.
//!
//! A listener remembers which of its topics changed, not how often: one that is slow is told of
//! each once, when it reads again. So nothing is lost, nothing grows, and nobody waits for anybody.

mod changes;
mod hub;
mod limits;
mod listener;
mod publisher;
mod topic;

pub use changes::Changes;
pub(crate) use hub::Hub;
pub use limits::ListenerLimits;
pub(crate) use limits::TooMany;
pub(crate) use listener::Listener;
pub(crate) use topic::Subject;
