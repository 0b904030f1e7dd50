//! HTTP: every revision at one endpoint.
//!
//! Each request tells its era. A modern request is served inside the task of its connection, and
//! nothing is kept of it. Clients of 2025-03-26 to 2025-11-25 have sessions with resumable streams
//! at the same path. Clients of 2024-11-05 use two paths beside it.
//!
//! | request | served as |
//! |---|---|
//! | `POST <endpoint>` with modern `_meta` | one exchange, stateless |
//! | `POST <endpoint>` with `initialize` | a new session |
//! | `POST`, `GET`, `DELETE <endpoint>` with `Mcp-Session-Id` | that session |
//! | `GET <endpoint>/sse`, `POST <endpoint>/messages` (or `/sse`, `/messages`) | HTTP+SSE |
//! | `GET <endpoint>/server-card`, `GET /.well-known/ai-catalog.json` | the server card, and the catalog that links to it |
//! | `GET /healthz` | a health check |

mod at_replica;
mod batch;
mod bearer;
mod body;
mod cors;
mod cors_rules;
mod documents;
mod door;
mod elsewhere;
mod event_id;
mod event_stream;
mod exchange_body;
mod extra_routes;
mod guard;
mod header_name;
mod held_sessions;
mod http_sse;
mod keep_alive;
mod listen_body;
mod media;
mod mirror;
mod modern;
mod named_session;
mod notes;
mod payer;
mod post;
mod protect;
mod read;
mod remote_stream;
mod reopen;
mod replay;
mod replica_messages;
mod reply;
mod route;
mod routed;
mod runs;
mod server_card;
mod service;
mod session;
mod session_exchange;
mod session_get;
mod session_post;
mod session_stream;
mod sessions;
mod settings;
mod site;
mod sse_session;
mod turn;

pub use bearer::{Bearer, IntoTokenResult};
pub use body::HttpBody;
pub use cors_rules::CorsRules;
pub use extra_routes::{ExtraRoutes, TextResponse};
pub use protect::{AuthDecision, Authorized, HttpRefusal, Protect};
pub use service::HttpService;
pub use settings::{AddressSource, AllowList, Cors, HttpSettings};
