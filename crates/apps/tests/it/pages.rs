//! How a host finds, reads and shows pages.

use turnbuckle_apps::host::{self, AppError};
use turnbuckle_protocol::{Revision, Tool};
use turnbuckle_server::{Resource, Server, Tool as ServerTool};

use crate::weather::{PAGE, URI, connect_host, server};

/// The revisions whose tools have `_meta`.
const WITH_META: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

fn named<'a>(tools: &'a [Tool], name: &str) -> &'a Tool {
    tools.iter().find(|tool| tool.name == name).unwrap()
}

#[tokio::test]
async fn a_host_opens_the_page_of_a_tool() {
    let server = server().build().unwrap();
    for revision in WITH_META {
        let host = connect_host(&server, revision).await;
        let tools: Vec<Tool> = host.tools().await.unwrap();
        let view = host::open(&host, named(&tools, "weather"))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((view.uri(), view.html()), (URI, PAGE), "{revision}");
        assert_eq!(view.ui().prefers_border, Some(true));
        let policy = view.policy().to_string();
        assert!(
            policy.contains("connect-src https://api.weather.example;"),
            "{policy}"
        );
        assert_eq!(view.policy().allow(), "geolocation");
        assert!(
            host::open(&host, named(&tools, "time"))
                .await
                .unwrap()
                .is_none()
        );
    }
}

// rule: W3
// apps: the model MUST NOT see tools that are only for apps, and apps MUST NOT call tools that are only for the
// model.
#[tokio::test]
async fn tools_are_kept_from_whom_they_are_not_for() {
    let server = server().build().unwrap();
    for revision in WITH_META {
        let host = connect_host(&server, revision).await;
        let tools: Vec<Tool> = host.tools().await.unwrap();
        let mut for_model: Vec<_> = tools
            .iter()
            .filter(|tool| host::is_for_model(tool))
            .map(|tool| tool.name.as_str())
            .collect();
        for_model.sort_unstable();
        assert_eq!(for_model, ["forecast", "time", "weather"], "{revision}");
        let view = host::open(&host, named(&tools, "weather"))
            .await
            .unwrap()
            .unwrap();
        assert!(view.check_call(named(&tools, "refresh")).is_ok());
        let refused = view.check_call(named(&tools, "forecast"));
        assert!(matches!(refused, Err(AppError::NotForApps { .. })));
    }
}

#[tokio::test]
async fn revisions_without_meta_have_plain_tools() {
    let server = server().build().unwrap();
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let host = connect_host(&server, revision).await;
        let tools: Vec<Tool> = host.tools().await.unwrap();
        assert!(tools.iter().all(|tool| tool.meta.is_none()), "{revision}");
    }
}

/// Opens the page of a tool that names this resource as its page.
async fn opened(resource: Resource) -> Result<Option<host::View>, AppError> {
    use turnbuckle_apps::UiTool as _;
    let server = Server::new("odd", "1")
        .tool(ServerTool::new("odd", || async { "text" }).ui("ui://odd"))
        .resource(resource);
    let live = server.build().unwrap();
    let host = connect_host(&live, Revision::V2026_07_28).await;
    let tools: Vec<Tool> = host.tools().await.unwrap();
    host::open(&host, &tools[0]).await
}

#[tokio::test]
async fn a_resource_that_is_not_a_page_is_not_shown() {
    let plain = Resource::new("ui://odd", || async { "<p>hello" }).mime_type("text/html");
    let error = opened(plain).await.unwrap_err();
    assert!(matches!(error, AppError::BadPage { .. }), "{error}");
    let empty = Resource::new("ui://odd", || async { " " }).mime_type(turnbuckle_apps::MIME_TYPE);
    assert!(matches!(opened(empty).await, Err(AppError::BadPage { .. })));
    let elsewhere = Resource::new("ui://other", || async { "x" });
    assert!(matches!(
        opened(elsewhere).await,
        Err(AppError::Unread { .. })
    ));
}

#[tokio::test]
async fn a_page_in_bytes_is_read_and_the_list_says_what_it_needs() {
    let bytes = Resource::new("ui://odd", || async { b"<p>hi".to_vec() })
        .mime_type(turnbuckle_apps::MIME_TYPE)
        .meta(
            "ui",
            serde_json::json!({"csp": {"connectDomains": ["https://a.example"]}}),
        );
    let view = opened(bytes).await.unwrap().unwrap();
    assert_eq!(view.html(), "<p>hi");
    assert!(
        view.policy()
            .to_string()
            .contains("connect-src https://a.example")
    );
}
