//! Apps over real sockets.

use serde_json::json;
use tokio::sync::oneshot;
use turnbuckle_apps::host;
use turnbuckle_protocol::{Revision, Tool};
use turnbuckle_server::Http;

use crate::weather::{PAGE, host as client, server};

#[tokio::test]
async fn a_page_comes_over_http_in_both_eras() {
    let (tell, told) = oneshot::channel();
    let http = Http::bind("127.0.0.1:0").announce(|address| {
        let _ = tell.send(address);
    });
    let serving = tokio::spawn(server().serve(http));
    let address = told.await.unwrap().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let url = format!("http://{address}/mcp");
        let server = client().only(revision).connect(url.as_str()).await.unwrap();
        let tools: Vec<Tool> = server.tools().await.unwrap();
        let weather = tools.iter().find(|tool| tool.name == "weather").unwrap();
        let view = host::open(&server, weather).await.unwrap().unwrap();
        assert_eq!(view.html(), PAGE, "{revision}");
        let output = server.call("weather", json!({})).await.unwrap();
        assert_eq!(output.text(), "9 °C (shown)", "{revision}");
        server.close().await;
    }
    serving.abort();
}
