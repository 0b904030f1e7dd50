//! The metadata in `_meta.ui`. For a tool: which page belongs to it, and who may call it. For a page: what it asks for.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use turnbuckle_protocol::Meta;

/// The key of `_meta`.
pub(crate) const KEY: &str = "ui";
/// The key under which early servers put only the URI.
#[cfg(feature = "client")]
pub(crate) const OLD_KEY: &str = "ui/resourceUri";

/// The metadata of a tool that belongs to an app, in the tool's `_meta.ui`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUi {
    /// The URI of the page that shows the tool's results. A tool without one may still be a tool that only pages call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    /// Who may call the tool. By default, both the model and the pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Visibility>>,
}

/// Who may call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// The model.
    Model,
    /// The pages of the same server.
    App,
    /// A value that this version does not know.
    #[serde(other)]
    Unknown,
}

impl ToolUi {
    /// Whether the model, or pages, may call the tool.
    pub fn is_for(&self, whom: Visibility) -> bool {
        self.visibility
            .as_ref()
            .is_none_or(|visibility| visibility.contains(&whom))
    }
}

/// The metadata of a page, in its `_meta.ui`: what it asks for, and how it should be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUi {
    /// The origins that the page loads from and sends requests to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csp: Option<Csp>,
    /// Features of the browser that the page asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// A dedicated origin for the page, in the host's format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Whether the host should draw a border around the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

/// The origins that a page needs. The host blocks all others.
///
/// ```
/// use turnbuckle_apps::Csp;
///
/// let csp = Csp::new().connect("https://api.example.com").load("https://cdn.example.com");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Csp {
    /// The origins that it sends requests to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// The origins of its scripts, styles, images, fonts and media.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// The origins of pages that it shows in frames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// The origins that the page's base URI may have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

impl Csp {
    /// Starts with no origins: the page can load and reach nothing outside.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows requests to an origin.
    pub fn connect(mut self, origin: impl Into<String>) -> Self {
        self.connect_domains.push(origin.into());
        self
    }

    /// Allows scripts, styles, images, fonts and media from an origin.
    pub fn load(mut self, origin: impl Into<String>) -> Self {
        self.resource_domains.push(origin.into());
        self
    }

    /// Allows frames with pages of an origin.
    pub fn frame(mut self, origin: impl Into<String>) -> Self {
        self.frame_domains.push(origin.into());
        self
    }

    /// Allows the base URI of the page to be at an origin.
    pub fn base(mut self, origin: impl Into<String>) -> Self {
        self.base_uri_domains.push(origin.into());
        self
    }

    /// The origins of all lists.
    #[cfg(feature = "server")]
    pub(crate) fn origins(&self) -> impl Iterator<Item = &str> {
        [
            &self.connect_domains,
            &self.resource_domains,
            &self.frame_domains,
            &self.base_uri_domains,
        ]
        .into_iter()
        .flatten()
        .map(String::as_str)
    }
}

/// The browser features that a page asks for. A host may refuse any of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    /// The camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<PermissionRequest>,
    /// The microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microphone: Option<PermissionRequest>,
    /// The location of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<PermissionRequest>,
    /// Writing to the clipboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipboard_write: Option<PermissionRequest>,
}

/// A permission that a page requests. The specification defines no members for it yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {}

impl Permissions {
    /// Starts with no permissions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the camera.
    pub fn camera(mut self) -> Self {
        self.camera = Some(PermissionRequest {});
        self
    }

    /// Asks for the microphone.
    pub fn microphone(mut self) -> Self {
        self.microphone = Some(PermissionRequest {});
        self
    }

    /// Asks for the location of the user.
    pub fn geolocation(mut self) -> Self {
        self.geolocation = Some(PermissionRequest {});
        self
    }

    /// Asks for writing to the clipboard.
    pub fn clipboard_write(mut self) -> Self {
        self.clipboard_write = Some(PermissionRequest {});
        self
    }
}

/// Reads `_meta.ui`; `None` if there is none.
#[cfg(feature = "client")]
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    meta: Option<&Meta>,
) -> Option<Result<T, serde_json::Error>> {
    let value = meta?.value(KEY)?;
    Some(T::deserialize(value))
}

/// The JSON of `_meta.ui`.
#[cfg(feature = "server")]
pub(crate) fn written<T: Serialize>(ui: &T) -> Value {
    serde_json::to_value(ui).unwrap_or_default()
}

/// A `_meta` that contains only `ui`.
#[cfg(feature = "server")]
pub(crate) fn whole<T: Serialize>(ui: &T) -> Meta {
    Meta::new().with(KEY, ui)
}

/// Whether a text is an origin that a content security policy may contain: a scheme that can be fetched, a
/// host, which may begin with `*.`, and optionally a port. Any other text could end the directive and
/// start another one.
pub(crate) fn is_origin(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    if !matches!(scheme, "https" | "http" | "wss" | "ws") {
        return false;
    }
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_port = |port: &str| port == "*" || port.parse::<u16>().is_ok();
    let host = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    host.split('.').all(is_label) && port.is_none_or(is_port)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_says_nothing_is_for_both() {
        let ui: ToolUi = serde_json::from_value(json!({"resourceUri": "ui://a/b"})).unwrap();
        assert!(ui.is_for(Visibility::Model) && ui.is_for(Visibility::App));
        let ui: ToolUi = serde_json::from_value(json!({"visibility": ["app", "robot"]})).unwrap();
        assert!(!ui.is_for(Visibility::Model) && ui.is_for(Visibility::App));
    }

    #[test]
    fn what_is_written_is_what_the_specification_says() {
        let ui = ResourceUi {
            csp: Some(
                Csp::new()
                    .connect("https://a.example")
                    .frame("https://b.example"),
            ),
            permissions: Some(Permissions::new().camera().clipboard_write()),
            domain: None,
            prefers_border: Some(true),
        };
        let json = json!({
            "csp": {"connectDomains": ["https://a.example"], "frameDomains": ["https://b.example"]},
            "permissions": {"camera": {}, "clipboardWrite": {}},
            "prefersBorder": true,
        });
        assert_eq!(serde_json::to_value(&ui).unwrap(), json);
        assert_eq!(serde_json::from_value::<ResourceUi>(json).unwrap(), ui);
    }

    #[test]
    fn only_origins_are_origins() {
        for origin in [
            "https://example.com",
            "https://*.example.com",
            "http://localhost:3000",
            "wss://a-b.example:*",
            "https://example.com/",
            "http://127.0.0.1:8080",
        ] {
            assert!(is_origin(origin), "{origin}");
        }
        for other in [
            "",
            "*",
            "https:",
            "https://",
            "https://*",
            "'self'",
            "'unsafe-eval'",
            "data:",
            "blob:",
            "example.com",
            "https://a.example; script-src *",
            "https://a.example https://b.example",
            "https://a.example,https://b.example",
            "https://a.example/x",
            "https://a..b",
            "javascript://a",
            "https://-a.example",
            "https://a.example:99999",
            "https://*.*.example",
            "https://user@a.example",
        ] {
            assert!(!is_origin(other), "{other}");
        }
    }
}
