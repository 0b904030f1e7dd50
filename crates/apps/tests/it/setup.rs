//! Mistakes in apps are reported when the server is built.

use turnbuckle_apps::{App, Csp};
use turnbuckle_server::Server;

fn problem(app: App) -> String {
    let built = Server::new("s", "1").extension(app).build();
    built.err().expect("the app is wrong").to_string()
}

#[test]
fn an_app_that_cannot_be_shown_is_a_mistake() {
    let address = problem(App::html("https://weather.example", "<p>"));
    assert!(address.contains("must begin with `ui://`"), "{address}");
    assert!(problem(App::html("ui://a", "  ")).contains("is empty"));
    let csp = Csp::new().connect("api.weather.example");
    let origin = problem(App::html("ui://a", "<p>").csp(csp));
    assert!(
        origin.contains("`api.weather.example` is not an origin"),
        "{origin}"
    );
}

#[tokio::test]
async fn a_page_can_be_written_anew_for_each_reading() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static READ: AtomicUsize = AtomicUsize::new(0);
    let app = App::from_handler("ui://count", || async {
        format!("<p>{}", READ.fetch_add(1, Ordering::SeqCst))
    });
    let server = Server::new("s", "1").extension(app).build().unwrap();
    let client = turnbuckle_testing::connect(&server).await.unwrap();
    for expected in ["<p>0", "<p>1"] {
        let read = client.read("ui://count").await.unwrap();
        let turnbuckle_protocol::ResourceContents::Text(text) = &read.contents[0] else {
            panic!("a page is text");
        };
        assert_eq!(text.text, expected);
        assert_eq!(text.mime_type.as_deref(), Some(turnbuckle_apps::MIME_TYPE));
    }
}
