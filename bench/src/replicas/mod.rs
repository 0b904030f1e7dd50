//! Replicas of a server, with Redis between them and a load balancer in front.
//!
//! With `bench chaos`, clients of every revision work while replicas and Redis are killed, stopped and
//! restarted. Each request has a number, and each answer is checked for its number and its caller.
//! `bench replicas` measures the cost of replicas.

mod awake;
pub(crate) mod chaos;
mod conductor;
mod event;
mod exchange;
pub(crate) mod figures;
mod guest;
mod history;
mod http_sse;
mod listening;
mod random;
mod recovery;
mod redis_commands;
mod reply_times;
mod report;
mod sdk;
mod site;
mod store;
mod tally;
mod wire;
mod work;
