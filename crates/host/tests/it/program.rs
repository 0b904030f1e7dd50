//! The server in `server.py`, and hosts that run it.

use std::{path::Path, time::Duration};

use turnbuckle_host::{
    Host, HostBuilder, Pacing, Rules, ServerId, ServerSpec, ServerState, StateChange,
};

/// Longer than anything takes on a busy machine. Something that takes longer will never happen.
pub(crate) const BOUND: Duration = Duration::from_secs(150);

/// Waits for a future that must complete.
pub(crate) async fn within<F: IntoFuture>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(BOUND, future.into_future()).await;
    waited.unwrap_or_else(|_| panic!("{what} did not happen within {BOUND:?}"))
}

/// The arguments for Python to run the server with these options.
pub(crate) fn arguments(options: &[&str]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server.py");
    let script = script.to_str().expect("the path is UTF-8").to_owned();
    // With `-S` and `-E` Python starts in half the time.
    let fixed = ["-S", "-E"].map(str::to_owned);
    let options = options.iter().map(|option| (*option).to_owned());
    fixed.into_iter().chain([script]).chain(options).collect()
}

/// The spec of the server with these options.
pub(crate) fn server(options: &[&str]) -> ServerSpec {
    ServerSpec::command("python3", arguments(options))
}

/// A host that allows everything, and restarts failed servers soon.
pub(crate) fn trusting() -> HostBuilder {
    Host::builder("host-tests", "1")
        .policy(Rules::new().trust("*"))
        .pacing(quick())
}

/// Pauses that are short enough for a test.
pub(crate) fn quick() -> Pacing {
    Pacing {
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(50),
        ..Pacing::default()
    }
}

/// Waits until a server is in a state.
pub(crate) async fn until(
    host: &Host,
    server: &str,
    what: &str,
    mut fits: impl FnMut(&ServerState) -> bool,
) -> ServerState {
    let mut states = host.states();
    let id = ServerId::new(server);
    within(what, async {
        loop {
            let now = host.state(&id).expect("the host has the server");
            if fits(&now) {
                return now;
            }
            // A state may have passed before this task runs again.
            if let Some(StateChange::State(other, state)) = states.next().await
                && other == id
                && fits(&state)
            {
                return state;
            }
        }
    })
    .await
}

pub(crate) async fn until_ready(host: &Host, server: &str) {
    until(host, server, "the server is ready", ServerState::is_ready).await;
}
