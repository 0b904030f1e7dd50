//! Serving requests: admission, methods, running handlers, answers.

pub(crate) mod admission;
pub(crate) mod answer;
pub(crate) mod budget;
mod content_check;
pub(crate) mod exchange;
pub(crate) mod incoming;
pub(crate) mod listen;
mod memory_budget;
mod memory_usage;
pub(crate) mod method;
pub(crate) mod rates;
pub(crate) mod relayed;
mod relayed_tasks;
pub(crate) mod served;
pub(crate) mod settings;
pub(crate) mod shared;
#[cfg(feature = "http")]
pub(crate) mod shared_rates;
pub(crate) mod sink;
mod sync;
mod target;
pub(crate) mod task;
mod trace;
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "only answers over HTTP pay for their memory")
)]
pub(crate) mod unsent;
mod usage_counter;

pub(crate) use answer::Responder;
pub(crate) use exchange::StartedCall;
#[cfg(feature = "http")]
pub(crate) use incoming::Denied;
pub(crate) use incoming::{Completable, Incoming, Target};
pub(crate) use listen::{Subscription, TaskNews};
pub use memory_budget::MemoryBudget;
pub use memory_usage::MemoryUsage;
pub use rates::Rates;
pub(crate) use relayed_tasks::RelayedTasks;
pub(crate) use served::Served;
pub(crate) use settings::Settings;
pub(crate) use shared::{Allowances, Shared};
pub(crate) use sink::{Response, Sink, Wrote};
pub use task::TaskSettings;
