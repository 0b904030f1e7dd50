//! The client against scripted servers: transcripts over an in-memory connection, and unusual programs
//! as real child processes.

mod agreed;
mod annotations;
mod arguments;
mod ask_rates;
mod asks_in_results;
mod asks_in_sessions;
mod by_hand;
mod caching;
mod calls;
mod completing;
mod deadlines;
#[cfg(feature = "http")]
mod http_answers;
#[cfg(feature = "http")]
mod http_authorize;
#[cfg(feature = "http")]
mod http_caching;
#[cfg(feature = "http")]
mod http_forgotten;
#[cfg(feature = "http")]
mod http_headers;
#[cfg(feature = "http")]
mod http_hostile;
#[cfg(feature = "http")]
mod http_listening;
#[cfg(feature = "http")]
mod http_modern;
#[cfg(feature = "http")]
mod http_plus_sse;
#[cfg(feature = "http")]
mod http_probe;
#[cfg(feature = "http")]
mod http_proxy;
#[cfg(feature = "http")]
mod http_sessions;
#[cfg(feature = "http")]
mod http_site;
#[cfg(feature = "http")]
mod http_statuses;
#[cfg(feature = "tls")]
mod http_tls;
#[cfg(feature = "http")]
mod http_twice;
#[cfg(feature = "http")]
mod http_waiting;
mod keep_alive;
mod leniency;
mod listening;
mod lists;
mod logs;
mod news;
mod oddities;
mod opening;
mod output;
mod own_tasks;
mod relaying;
#[cfg(feature = "http")]
mod relaying_http;
mod script;
#[cfg(feature = "http")]
mod tap;
mod targets;
