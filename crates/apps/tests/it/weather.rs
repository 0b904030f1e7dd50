//! The server under test.

use turnbuckle_apps::{App, Apps, Csp, Permissions, Ui, UiClient};
use turnbuckle_client::{Client, Connection};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Declared, LiveServer, Server, Tool};

pub(crate) const PAGE: &str = "<!doctype html><p id=weather>…</p>";
pub(crate) const URI: &str = "ui://weather/today";

async fn weather(Declared(host): Declared<Ui>) -> &'static str {
    if host.is_some_and(|host| host.shows_html()) {
        "9 °C (shown)"
    } else {
        "9 °C, wind from the west"
    }
}

pub(crate) fn server() -> Server {
    let app = App::html(URI, PAGE)
        .title("Today's weather")
        .csp(Csp::new().connect("https://api.weather.example"))
        .permissions(Permissions::new().geolocation())
        .bordered()
        .tool(Tool::new("weather", weather))
        .app_tool(Tool::new("refresh", || async { "10 °C" }))
        .model_tool(Tool::new("forecast", || async { "rain" }));
    Server::new("weather", "1.0.0")
        .tool(Tool::new("time", || async { "noon" }))
        .extension(Apps::new().app(app))
}

/// A host that shows pages.
pub(crate) fn host() -> Client {
    Client::new("host", "1.0.0").declare::<Ui>(&UiClient::default())
}

pub(crate) async fn connect_host(server: &LiveServer, revision: Revision) -> Connection {
    turnbuckle_testing::connect_with(server, &host().only(revision))
        .await
        .unwrap()
}
