//! A host over real sockets: progress and log messages reach the caller.

use axum::Router;
use turnbuckle::{
    Log, Progress, Revision, Server,
    client::Logged,
    host::{Host, Rules, ServerSpec, ServerState, config::Launch},
    protocol::LoggingLevel,
    tool,
};

use crate::host_questions::serve;

/// Bakes bread, and tells how far it is.
#[tool]
async fn bake(#[extract] log: Log, #[extract] progress: Progress) -> String {
    log.debug("the oven is hot");
    progress.of(1, 2).say("rising").await;
    progress.of(2, 2).say("browning").await;
    log.warning("the flour is used up");
    "bread".into()
}

#[tokio::test]
async fn progress_and_log_messages_over_http_reach_the_caller() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = Server::new("bakery", "1.0.0").tool(bake).build().unwrap();
        let router = Router::new().fallback_service(server.http());
        let launch = Launch::Remote(serve(router, revision).await);
        let host = Host::builder("host", "1.0.0")
            .policy(Rules::new().trust("*"))
            .server("bakery", ServerSpec::from(launch))
            .open()
            .await;
        host.ready().await;
        let Some(ServerState::Ready(ready)) = host.state("bakery") else {
            panic!("{:?}", host.state("bakery"))
        };
        assert_eq!(ready.revision, revision);
        let (mut progress, mut logs) = (Vec::new(), Vec::new());
        let output = host
            .call("bake", ())
            .log_level(LoggingLevel::Debug)
            .progress(|report| progress.push(report.message.unwrap_or_default()))
            .on_log(|logged| match logged {
                Logged::Message(message) => {
                    logs.push((message.level, message.data.clone()));
                }
                other => panic!("{other:?}"),
            })
            .await
            .unwrap();
        assert_eq!(output.text(), "bread", "{revision}");
        assert_eq!(progress, ["rising", "browning"], "{revision}");
        let told = [
            (LoggingLevel::Debug, "the oven is hot".into()),
            (LoggingLevel::Warning, "the flour is used up".into()),
        ];
        assert_eq!(logs, told, "{revision}");
        host.close().await;
    }
}
