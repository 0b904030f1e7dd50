//! Tests of the server from outside: each test exchanges lines of JSON with it.

mod arguments;
mod batch;
mod cancellation;
mod changes;
mod completion;
mod concurrency;
mod courtesy;
mod edits;
mod empty_lists;
mod end_of_input;
mod envelope;
mod eras;
mod extractors;
#[path = "../../../protocol/src/tests/facts/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of `protocol` use the rest"
)]
mod facts;
mod failures;
mod fault_log;
mod gate;
mod hidden;
#[cfg(feature = "http")]
mod http;
mod layers;
mod lists;
mod logging;
mod mutations;
mod odd_clients;
mod outcomes;
mod output_schemas;
mod prompts;
mod resource_lists;
mod roots;
mod sample;
mod setup;
mod slow_peer;
mod spec;
mod stdio_process;
mod subscriptions;
mod tasks;
mod templates;
mod tool_limits;
mod transcript;
mod transports;
mod unexpected_errors;
mod wire;
