//! Clients that do not support apps are served as usual.

use serde_json::json;
use turnbuckle_apps::Ui;
use turnbuckle_client::CallError;
use turnbuckle_protocol::Revision;
use turnbuckle_server::Server;
use turnbuckle_testing::every_revision;

use crate::weather::{connect_host, server};

// rule: W1
every_revision! {
    // apps: tools MUST return text that is useful without the page.
    async fn a_client_without_apps_reads_text(client = server()) {
        let output = client.call("weather", json!({})).await.unwrap();
        assert_eq!(output.text(), "9 °C, wind from the west");
    }

    // apps: hosts do not offer tools for apps to the model; clients without apps do not see these tools at all.
    async fn a_client_without_apps_is_not_shown_what_is_for_pages(client = server()) {
        let mut names: Vec<_> = client.tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
        names.sort();
        assert_eq!(names, ["forecast", "time", "weather"]);
        let called = client.call("refresh", json!({})).await.unwrap();
        assert_eq!(called.text(), "10 °C");
    }

    async fn the_extension_is_declared_wherever_the_revision_has_room(client = server()) {
        let extension = client.extension::<Ui>();
        assert!(extension.is_ok(), "{extension:?}");
    }

    // Extensions are off by default.
    async fn a_server_without_apps_declares_none(client = Server::new("plain", "1")) {
        let missing = client.extension::<Ui>();
        assert!(matches!(missing, Err(CallError::NotOffered { .. })), "{missing:?}");
    }
}

#[tokio::test]
async fn a_handler_knows_at_every_revision_whether_its_client_shows_pages() {
    let server = server().build().unwrap();
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let host = connect_host(&server, revision).await;
        let tools = host.tools().await.unwrap();
        assert!(
            tools.iter().any(|tool| tool.name == "refresh"),
            "{revision}"
        );
        let output = host.call("weather", json!({})).await.unwrap();
        assert_eq!(output.text(), "9 °C (shown)", "{revision}");
    }
}
