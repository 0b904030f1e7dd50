//! Visits to pages, and folders as roots.

use std::path::Path;

use turnbuckle::{
    auth::client::open_in_browser,
    client::Roots,
    protocol::{ElicitRequestUrlParams, ElicitResult, Root},
};
use turnbuckle_command_line::{
    control::{one_line, tell},
    failure::{Failed, Outcome},
    style::Style,
};

use super::{field::yes_or_no, line::Line, message};

/// Shows the URL of a page, and asks. The page is opened only with `--open`, and only after a yes.
pub(crate) async fn ask(
    server: &str,
    visit: &ElicitRequestUrlParams,
    opens: bool,
) -> Outcome<ElicitResult> {
    message::show(server, &visit.message);
    let host = one_line(visit.host());
    tell(&format!("  host: {}", Style::Strong.err(&host)));
    tell(&format!("  {}", one_line(&visit.url)));
    if let Some(warning) = visit.warning() {
        let careful = Style::Bad.err("careful:");
        tell(&format!("  {careful} {}", one_line(&warning)));
    }
    let question = if opens {
        "  Open it? [y/N] "
    } else {
        "  Will you visit it? [y/N] "
    };
    loop {
        let Some(text) = Line::new(question).not_typed_ahead().read().await? else {
            return Ok(ElicitResult::cancel());
        };
        match yes_or_no(text.trim()) {
            Some(true) => break,
            None if !text.trim().is_empty() => tell("  type y or n"),
            _ => return Ok(ElicitResult::decline()),
        }
    }
    if opens {
        open(&visit.url);
    }
    Ok(ElicitResult::accept_visit())
}

/// Waits until the user confirms being done at a page. Keys that were pressed before do not count.
pub(crate) async fn ask_done(place: &str) -> Outcome {
    let prompt = format!("  Press Enter when you are done {place}. ");
    let line = Line::new(prompt).not_typed_ahead();
    line.read().await.map(drop)
}

/// Opens a page in the browser. Only web pages are opened, because URLs with other schemes can start programs.
fn open(url: &str) {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        tell("  only http and https are opened; open it yourself if you trust it");
        return;
    }
    if let Err(error) = open_in_browser(url) {
        tell(&format!(
            "  no browser could be opened ({error}); open the page yourself"
        ));
    }
}

/// A folder from the command line, as a root.
pub(crate) fn root(path: &Path) -> Outcome<Root> {
    let roots = Roots::folders([path]).map_err(Failed::usage)?;
    let root = roots.list().pop();
    Ok(root.expect("it is the root of the only folder"))
}
