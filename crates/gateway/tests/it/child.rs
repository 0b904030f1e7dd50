//! Runs this test binary as a server on stdio, for gateways that start it.

use turnbuckle_host::ServerSpec;
use turnbuckle_server::Stdio;

use crate::upstream;

/// Set in the environment of the child process.
const MARK: &str = "TURNBUCKLE_GATEWAY_TEST_CHILD";

/// Does nothing unless a gateway started the process; then it is the server.
#[tokio::test]
async fn serves_on_stdio() {
    if std::env::var_os(MARK).is_some() {
        upstream::server().serve(Stdio).await.expect("stdio");
    }
}

/// The spec that runs this binary as a server.
pub(crate) fn spec() -> ServerSpec {
    let program = std::env::current_exe().expect("this program");
    let command = format!(
        "{MARK}=1 exec '{}' --exact child::serves_on_stdio --nocapture --quiet",
        program.display()
    );
    ServerSpec::command("sh", ["-c", &command])
}
