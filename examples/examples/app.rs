//! A tool with an HTML page: hosts that support MCP Apps show the page, all others use the tool's text.
//!
//! ```text
//! cargo run -p examples --example app
//! ```

use turnbuckle::{
    Declared,
    apps::{App, Apps, Csp, Ui},
    prelude::*,
};

/// The page. It asks its host for the result of the tool, and shows it.
const PAGE: &str = r#"<!doctype html>
<meta charset="utf-8">
<p id="sky">…</p>
<script>
  addEventListener("message", ({ data }) => {
    if (data.method === "ui/notifications/tool-result") {
      document.getElementById("sky").textContent = data.params.content[0].text;
    }
  });
  const hello = { jsonrpc: "2.0", id: 1, method: "ui/initialize", params: {
    appInfo: { name: "sky", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" } };
  parent.postMessage(hello, "*");
  parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*");
</script>"#;

/// Tells what the sky looks like.
#[tool(read_only)]
async fn sky(Declared(host): Declared<Ui>, city: String) -> String {
    match host {
        Some(host) if host.shows_html() => format!("☁ {city}"),
        _ => format!("The sky over {city} is grey, with a little sun to come."),
    }
}

/// Looks again. For the page: hosts keep it from the model.
#[tool(read_only)]
async fn look_again(city: String) -> String {
    format!("☀ {city}")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    let app = App::html("ui://sky/view", PAGE)
        .title("The sky")
        .csp(Csp::new())
        .tool(sky)
        .app_tool(look_again);
    turnbuckle::server!()
        .extension(Apps::new().app(app))
        .serve(Stdio)
        .await
}
