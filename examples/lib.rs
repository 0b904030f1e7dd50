//! One file for each feature, in `examples/`: `cargo run -p examples --example NAME` runs one.
//!
//! | to see | read |
//! |---|---|
//! | the smallest server | `hello` |
//! | arguments of every kind, and enums | `arguments` |
//! | structured output | `structured` |
//! | the kinds of errors, and what the model reads of each | `errors` |
//! | state that handlers share | `state` |
//! | methods of one type as handlers | `methods` |
//! | your own extractor | `extractor` |
//! | progress, cancellation, blocking work | `progress` |
//! | work that takes long, as a task | `long_build` |
//! | one server in several processes, which share tasks and changes in Redis | `replicas` |
//! | elicitation with forms, with effects that happen once; several processes | `booking` |
//! | elicitation by URL: sending the user to a page | `payment` |
//! | sampling: using the client's model | `summariser` |
//! | resources and URI templates | `resources` |
//! | resources from a database: listed by a callback, with changes | `notes` |
//! | prompts and completion | `prompts` |
//! | middleware: code around calls | `layers` |
//! | a catalog that changes | `dynamic_tools` |
//! | a server that starts empty and gets its tools later | `plugins` |
//! | tools that only some callers see | `visibility` |
//! | no attributes at all | `by_hand` |
//! | a client: list and call tools | `list_and_call` |
//! | a client: progress, deadline, cancelling | `call_options` |
//! | a client: answering what servers ask | `answering` |
//! | a client: answering later, in another process | `answer_later` |
//! | server and client in one process | `in_process` |
//! | a bug that only appears on a bad network, found by its seed | `simulation` |
//! | a host: several servers, one catalog, and a user who is asked | `host` |
//! | an agent: a model with the tools of all servers of a config file | `agent` |
//! | a resource that changes, and log messages for clients that ask for them | `live_resource` |
//! | a socket, or any other byte stream | `socket` |
//! | a transport that is not a byte stream | `channel` |
//! | a server inside an axum application, with CORS | `web_app` |
//! | a tool with a page (MCP Apps) | `app` |
//! | skills, and a host that verifies them | `skills` |
//! | one trace through two servers, in OpenTelemetry | `traces` |
//! | a server that requires tokens, and a client that gets them | `protected` |
//! | a client whose user signs in with a browser | `sign_in` |
//! | an authorization server for tests and demos | `authorization_server` |
//!
//! Each example is run by `tests/it`.
