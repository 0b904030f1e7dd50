//! HTTP, tested over sockets of this machine.

#![expect(
    clippy::needless_pass_by_value,
    reason = "messages are written in place, as `json!(…)`"
)]

mod ask;
mod asks;
mod bad_input;
mod batch;
mod caller;
mod deaf_replica;
mod detach;
mod door;
mod flood;
mod forwarding;
mod hidden;
mod http_sse;
mod late_store;
mod limits;
mod modern;
mod modern_headers;
mod modern_stream;
mod places;
mod protect;
mod quotas;
mod raw;
mod replicas;
mod requests;
mod resume;
mod session;
mod shared_limits;
mod shutdown;
mod site;
mod standing;
mod subscriptions;
mod tasks;
mod unsent;
mod utilities;
