//! What `_meta.ui` says: of a tool, which page belongs to it and who may call it; of a page, what
//! it needs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use turnbuckle_protocol::Meta;

/// The key of `_meta`.
pub(crate) const KEY: &str = "ui";
/// The key that early servers used for the address alone.
#[cfg(feature = "client")]
pub(crate) const OLD_KEY: &str = "ui/resourceUri";

/// The page of a tool, in the `_meta` of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUi {
    /// The address of the page that shows its results; a tool without one may still be for pages
    /// only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    /// Who may call the tool; both, if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Visibility>>,
}

/// Who a tool is for.
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
    /// Whether the tool is for these.
    pub fn is_for(&self, whom: Visibility) -> bool {
        self.visibility
            .as_ref()
            .is_none_or(|visibility| visibility.contains(&whom))
    }
}

/// The needs of a page, and how it wants to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUi {
    /// Where it loads things from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csp: Option<Csp>,
    /// Features of the browser that the page asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// An origin of its own, in the form that the host wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Whether a border is drawn around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

/// Origins that a page needs. The host blocks all others.
///
/// ```
/// use turnbuckle_apps::Csp;
///
/// let csp = Csp::new().connect("https://api.example.com").load("https://cdn.example.com");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Csp {
    /// Where it sends requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// Where scripts, styles, pictures, fonts and media come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// Origins of pages that it shows in frames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// Origins that may be the base URI of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

impl Csp {
    /// Nothing from outside.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets it send requests to an origin.
    pub fn connect(mut self, origin: impl Into<String>) -> Self {
        self.connect_domains.push(origin.into());
        self
    }

    /// Lets it load scripts, styles, pictures, fonts and media from an origin.
    pub fn load(mut self, origin: impl Into<String>) -> Self {
        self.resource_domains.push(origin.into());
        self
    }

    /// Lets it show an origin in a frame.
    pub fn frame(mut self, origin: impl Into<String>) -> Self {
        self.frame_domains.push(origin.into());
        self
    }

    /// Lets its addresses be relative to an origin.
    pub fn base(mut self, origin: impl Into<String>) -> Self {
        self.base_uri_domains.push(origin.into());
        self
    }

    /// All origins of all lists.
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

/// Features of the browser that a page asks for. A host may refuse any of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    /// The camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<PermissionRequest>,
    /// The microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microphone: Option<PermissionRequest>,
    /// Where the user is.
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
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wants the camera.
    pub fn camera(mut self) -> Self {
        self.camera = Some(PermissionRequest {});
        self
    }

    /// Wants the microphone.
    pub fn microphone(mut self) -> Self {
        self.microphone = Some(PermissionRequest {});
        self
    }

    /// Wants to know where the user is.
    pub fn geolocation(mut self) -> Self {
        self.geolocation = Some(PermissionRequest {});
        self
    }

    /// Wants to write to the clipboard.
    pub fn clipboard_write(mut self) -> Self {
        self.clipboard_write = Some(PermissionRequest {});
        self
    }
}

/// Reads `_meta.ui` as a type; `None` if it is not there.
#[cfg(feature = "client")]
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    meta: Option<&Meta>,
) -> Option<Result<T, serde_json::Error>> {
    let value = meta?.value(KEY)?;
    Some(T::deserialize(value))
}

/// `_meta.ui` as it is written.
#[cfg(feature = "server")]
pub(crate) fn written<T: Serialize>(ui: &T) -> Value {
    serde_json::to_value(ui).unwrap_or_default()
}

/// A whole `_meta` with `ui` in it.
#[cfg(feature = "server")]
pub(crate) fn whole<T: Serialize>(ui: &T) -> Meta {
    Meta::new().with(KEY, ui)
}

/// Whether a text is allowed as an origin in a content security policy: a scheme that fetches, a
/// host which may begin with `*.`, and perhaps a port. Any other text could end the directive and
/// begin another.
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
