//! The restrictions of a page: its content security policy and its permissions.

use std::fmt;

use crate::{Csp, Permissions, ResourceUi, meta::is_origin};

/// How many origins of one list are used. No ordinary page needs more.
const MAX_ORIGINS: usize = 64;

/// The restrictions of a page, computed from the origins and permissions that it asks for. `Display` writes the
/// value of the `Content-Security-Policy` header.
///
/// A host may restrict the page further. It must not allow anything that the page did not ask for, because
/// that was never reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    csp: String,
    allow: String,
    refused: Vec<String>,
}

impl Policy {
    /// Computes the policy of a page from its metadata.
    pub fn of(ui: &ResourceUi) -> Self {
        let none = Csp::default();
        let csp = ui.csp.as_ref().unwrap_or(&none);
        let mut refused = Vec::new();
        Self {
            csp: directives(csp, &mut refused),
            allow: ui.permissions.as_ref().map(allow).unwrap_or_default(),
            refused,
        }
    }

    /// The value of the frame's `allow` attribute: the browser features that the page may use, if the host agrees.
    pub fn allow(&self) -> &str {
        &self.allow
    }

    /// The requested origins that the page does not get, because they are invalid or too many.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.csp)
    }
}

/// apps, "content security policy": nothing is allowed by default, and origins only where the page asks for them.
fn directives(csp: &Csp, refused: &mut Vec<String>) -> String {
    let mut take = |origins: &[String]| sources(origins, refused);
    let load = take(&csp.resource_domains);
    let connect = take(&csp.connect_domains);
    let frame = take(&csp.frame_domains);
    let base = take(&csp.base_uri_domains);
    let or = |sources: &str, otherwise: &str| {
        if sources.is_empty() {
            format!(" {otherwise}")
        } else {
            sources.to_owned()
        }
    };
    [
        "default-src 'none'".to_owned(),
        format!("script-src 'self' 'unsafe-inline'{load}"),
        format!("style-src 'self' 'unsafe-inline'{load}"),
        format!("img-src 'self' data:{load}"),
        format!("font-src 'self'{load}"),
        format!("media-src 'self' data:{load}"),
        format!("connect-src{}", or(&connect, "'none'")),
        format!("frame-src{}", or(&frame, "'none'")),
        "object-src 'none'".to_owned(),
        format!("base-uri{}", or(&base, "'self'")),
    ]
    .join("; ")
}

/// The origins in the syntax of a directive, each after a space.
fn sources(origins: &[String], refused: &mut Vec<String>) -> String {
    let mut sources = String::new();
    for (index, origin) in origins.iter().enumerate() {
        if index < MAX_ORIGINS && is_origin(origin) {
            sources.push(' ');
            sources.push_str(origin);
        } else {
            refused.push(origin.clone());
        }
    }
    sources
}

fn allow(permissions: &Permissions) -> String {
    let wanted = [
        ("camera", permissions.camera.is_some()),
        ("microphone", permissions.microphone.is_some()),
        ("geolocation", permissions.geolocation.is_some()),
        ("clipboard-write", permissions.clipboard_write.is_some()),
    ];
    let names: Vec<_> = wanted
        .into_iter()
        .filter_map(|(name, is_wanted)| is_wanted.then_some(name))
        .collect();
    names.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: W2
    #[test]
    fn a_page_that_asks_for_nothing_gets_nothing() {
        let policy = Policy::of(&ResourceUi::default());
        assert_eq!(
            policy.to_string(),
            "default-src 'none'; script-src 'self' 'unsafe-inline'; \
             style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
             media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; \
             base-uri 'self'"
        );
        assert_eq!(policy.allow(), "");
    }

    #[test]
    fn origins_are_in_the_directives_they_were_asked_for() {
        let ui = ResourceUi {
            csp: Some(
                Csp::new()
                    .connect("https://api.example")
                    .load("https://cdn.example")
                    .frame("https://video.example")
                    .base("https://base.example"),
            ),
            permissions: Some(Permissions::new().camera().clipboard_write()),
            ..ResourceUi::default()
        };
        let policy = Policy::of(&ui);
        let text = policy.to_string();
        for part in [
            "script-src 'self' 'unsafe-inline' https://cdn.example;",
            "img-src 'self' data: https://cdn.example;",
            "connect-src https://api.example;",
            "frame-src https://video.example;",
            "base-uri https://base.example",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("script-src 'self' 'unsafe-inline' https://api"));
        assert_eq!(policy.allow(), "camera; clipboard-write");
    }

    #[test]
    fn origins_cannot_inject_directives() {
        let ui = ResourceUi {
            csp: Some(
                Csp::new()
                    .connect("https://a.example; script-src *")
                    .connect("*")
                    .load("'unsafe-eval'")
                    .load("https://good.example"),
            ),
            ..ResourceUi::default()
        };
        let policy = Policy::of(&ui);
        let text = policy.to_string();
        assert!(!text.contains('*') && !text.contains("eval"), "{text}");
        assert!(text.contains("https://good.example"));
        assert_eq!(policy.refused().len(), 3);
    }
}
