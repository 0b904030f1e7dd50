//! Subscriptions, and the changes that they report.
//!
//! [`ChangeQueues`] passes each change to the bounded queues of the streams that want it.
//! [`DesiredSession`] is the desired state of a session. The tasks that send requests to reach this
//! state are in `listen`.

mod change;
mod change_queue;
mod change_queues;
mod desired_session;
mod listen;

pub use change::{Change, Missed};
pub(crate) use change_queue::{ChangeQueue, NextChange, SubscriptionState};
pub(crate) use change_queues::{ChangeQueues, subscription_id};
pub(crate) use desired_session::{DesiredSession, SessionNumber, SessionRequest};
pub use listen::Listen;
pub(crate) use listen::{offered, refused};
