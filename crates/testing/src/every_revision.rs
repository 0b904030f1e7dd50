//! One test body for every revision.

use std::future::Future;

use turnbuckle_client::{Client, Connection};
use turnbuckle_protocol::Revision;
use turnbuckle_server::Server;

use crate::plain_client;

/// Declares tests that run at every revision: one body, and a `#[test]` for each revision.
///
/// The body gets a client that speaks the revision and is connected to the server that the expression
/// gives. Each test becomes a module with a test for each revision, so a failure names its revision.
/// Handlers that ask are [run again](crate::reenter()) at each pause; a test fails if a handler then
/// asks something else.
///
/// ```
/// use turnbuckle_server::{Server, Tool};
/// use turnbuckle_testing::every_revision;
///
/// fn greeter() -> Server {
///     Server::new("greeter", "1.0.0").tool(Tool::new("greet", || async { "hello" }))
/// }
///
/// every_revision! {
///     async fn greets_everybody(client = greeter()) {
///         let output = client.call("greet", serde_json::json!({})).await.unwrap();
///         assert_eq!(output.text(), "hello");
///     }
/// }
/// # fn main() {}
/// ```
///
/// To answer questions of handlers, give the client `Answers`:
/// `async fn books(client = booking(), answering = helpful())`.
#[macro_export]
macro_rules! every_revision {
    ($(
        $(#[$attribute:meta])*
        async fn $name:ident($client:ident = $server:expr $(, answering = $answers:expr)?) $body:block
    )*) => {
        $(
            $(#[$attribute])*
            mod $name {
                #[allow(unused_imports, reason = "a test may need nothing of its surroundings")]
                use super::*;

                fn run(revision: $crate::protocol::Revision) {
                    #[allow(unused_mut, reason = "not every client answers")]
                    let mut client = $crate::plain_client(revision);
                    $(client = client.answering($answers);)?
                    $crate::run_as(&client, revision, $server, async move |$client| $body);
                }

                $crate::protocol::each_revision!($crate::__revision_tests);
            }
        )*
    };
}

/// The tests of one body: a `#[test]` for each revision.
#[doc(hidden)]
#[macro_export]
macro_rules! __revision_tests {
    ($($(#[$docs:meta])* $variant:ident $module:ident $date:literal;)+) => {
        $(
            #[test]
            fn $module() {
                run($crate::protocol::Revision::$variant);
            }
        )+
    };
}

/// Runs a test body with a client of this revision, connected to this server. [`every_revision!`] calls it.
///
/// # Panics
/// If the server cannot be set up or does not answer, so that the test fails.
pub fn run_at<F: Future<Output = ()>>(
    revision: Revision,
    server: Server,
    body: impl FnOnce(Connection) -> F,
) {
    run_as(&plain_client(revision), revision, server, body);
}

/// Runs a test body with this client, connected to this server. The client speaks only this revision.
///
/// # Panics
/// If the server cannot be set up or does not answer, or if a handler asks something else when it is
/// run again, so that the test fails.
pub fn run_as<F: Future<Output = ()>>(
    client: &Client,
    revision: Revision,
    server: Server,
    body: impl FnOnce(Connection) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a test can have a runtime");
    runtime.block_on(async {
        let server = server.build().expect("the server under test is set up");
        let (end, differences) = crate::reenter(&server);
        let client = client
            .connect(end)
            .await
            .expect("the server under test answers its client");
        assert_eq!(
            client.server().revision(),
            revision,
            "the client connects at the requested revision"
        );
        body(client).await;
        differences.assert_none();
    });
}
