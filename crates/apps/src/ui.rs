//! The extension itself: its id, and what each side declares.

use serde::{Deserialize, Serialize};
use turnbuckle_protocol::ExtensionSpec;

/// The media type of a page.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// The start of the URI of a page.
pub const SCHEME: &str = "ui://";

/// The MCP Apps extension as a type. The extractor `Declared<Ui>` tells a handler whether its client shows pages.
#[derive(Clone, Copy, Debug)]
pub struct Ui;

impl ExtensionSpec for Ui {
    const ID: &'static str = "io.modelcontextprotocol/ui";
    type Client = UiClient;
    type Server = UiServer;
}

/// The settings that a host declares: the media types that it can show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UiClient {
    /// The media types.
    #[serde(default)]
    pub mime_types: Vec<String>,
}

impl Default for UiClient {
    /// The settings of a host that shows HTML pages.
    fn default() -> Self {
        Self {
            mime_types: vec![MIME_TYPE.to_owned()],
        }
    }
}

impl UiClient {
    /// Whether the host shows HTML pages.
    pub fn shows_html(&self) -> bool {
        self.mime_types.iter().any(|known| is_page(known))
    }
}

/// The settings that a server with pages declares. They are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UiServer {}

/// Whether a media type is that of a page, without regard to case or to spaces around parameters.
pub(crate) fn is_page(mime_type: &str) -> bool {
    let mut parts = mime_type.split(';').map(str::trim);
    let is_html = parts
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("text/html"));
    let is_app = |parameter: &str| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("profile")
                && value.trim().trim_matches('"') == "mcp-app"
        })
    };
    is_html && parts.any(is_app)
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: W1
    #[test]
    fn a_page_says_its_profile() {
        for page in [
            MIME_TYPE,
            "Text/HTML; profile=mcp-app",
            "text/html;charset=utf-8;profile=\"mcp-app\"",
        ] {
            assert!(is_page(page), "{page}");
        }
        for other in [
            "text/html",
            "text/html;profile=mcp-app2",
            "text/plain;profile=mcp-app",
            "",
        ] {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn a_host_says_what_it_shows() {
        assert!(UiClient::default().shows_html());
        let none: UiClient = serde_json::from_str("{}").unwrap();
        assert!(!none.shows_html());
    }
}
