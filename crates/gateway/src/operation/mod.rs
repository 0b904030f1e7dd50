//! Operating a gateway: policies, rate limits, the access log and metrics.
//!
//! Give an [`Operation`] to a gateway with [`Gateway::operation`](crate::Gateway::operation). Its
//! [`Policy`] decides about requests, its [`Metrics`] count them, and its [`AccessLog`] writes a
//! line for each.

mod access_log;
mod ask;
mod asking;
mod caller_use;
#[cfg(feature = "cel")]
mod condition;
#[cfg(not(feature = "cel"))]
#[path = "no_condition.rs"]
mod condition;
mod consents;
mod course;
mod judgeable;
mod list_filter;
mod log_writer;
mod metrics;
mod operated;
mod part;
mod pattern;
mod plain_uri;
mod policy;
mod request;
mod subject;

pub use access_log::{AccessLog, AccessRecord};
pub(crate) use asking::{AskRound, Asking, CallIdentity, ask_session};
pub(crate) use caller_use::Running;
#[cfg(feature = "cel")]
pub use condition::ConditionError;
pub(crate) use course::unknown;
pub use metrics::Metrics;
pub use operated::Operation;
pub(crate) use part::is_part_of;
pub use policy::{Policy, PolicyRule, Rate};
pub use request::EntryKind;
pub(crate) use request::{check_readable, is_task_request_of_replica};
pub(crate) use subject::{Admitted, Directory, EntryFacts, Judged, SeenEntries};
