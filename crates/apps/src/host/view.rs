//! A page that was read and checked.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use turnbuckle_client::Connection;
use turnbuckle_protocol::{ResourceContents, Tool};

use super::{AppError, Policy, is_for_app, page_of};
use crate::{ResourceUi, meta, ui::is_page};

/// The most bytes that a page may have. Pages contain their scripts and images, so some have several
/// megabytes; a browser freezes if it gets much more at once.
pub const MAX_PAGE_BYTES: usize = 16 * 1024 * 1024;

/// A page that was read and checked, and may be shown under its [policy](Self::policy). [`open`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    uri: String,
    html: String,
    ui: ResourceUi,
    policy: Policy,
}

/// Reads the page of a tool and checks it. Returns `None` if the tool has no page.
///
/// Call this when you are about to show or review the page; nothing is read before.
///
/// # Errors
/// [`AppError`] says what is wrong with the page. Continue without it: the tool's result also has text.
///
/// # Cancel safety
/// Dropping the future cancels the request.
pub async fn open(server: &Connection, tool: &Tool) -> Result<Option<View>, AppError> {
    let Some(uri) = page_of(tool)? else {
        return Ok(None);
    };
    let read = server
        .read(uri.clone())
        .await
        .map_err(|source| AppError::Unread {
            uri: uri.as_str().into(),
            source,
        })?;
    let (html, said) = page(&uri, read.contents)?;
    let ui = match said {
        Some(ui) => ui,
        // apps: metadata of the contents overrides metadata of the list.
        None => listed(server, &uri).await,
    };
    let policy = Policy::of(&ui);
    Ok(Some(View {
        uri,
        html,
        ui,
        policy,
    }))
}

impl View {
    /// The URI of the page.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The HTML of the page.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// The metadata of the page: what it asks for, and how it should be shown.
    pub fn ui(&self) -> &ResourceUi {
        &self.ui
    }

    /// The restrictions under which the page must be shown.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Checks that the page may call a tool of its own server. Never let it call tools of other
    /// servers.
    ///
    /// # Errors
    /// [`AppError::NotForApps`] if the tool is only for the model.
    pub fn check_call(&self, tool: &Tool) -> Result<(), AppError> {
        if is_for_app(tool) {
            return Ok(());
        }
        Err(AppError::NotForApps {
            uri: self.uri.as_str().into(),
            tool: tool.name.as_str().into(),
        })
    }
}

type PageText = (String, Option<ResourceUi>);

fn page(uri: &str, contents: Vec<ResourceContents>) -> Result<PageText, AppError> {
    let bad = |problem: &str| AppError::BadPage {
        uri: uri.into(),
        problem: problem.into(),
    };
    let mut pages = contents
        .into_iter()
        .filter(|contents| contents.mime_type().is_some_and(is_page));
    let contents = pages
        .next()
        .ok_or_else(|| bad("its media type must be `text/html;profile=mcp-app`"))?;
    let (html, said) = match contents {
        ResourceContents::Text(text) => (text.text, text.meta),
        ResourceContents::Blob(blob) => {
            let bytes = BASE64_STANDARD
                .decode(blob.blob)
                .map_err(|_| bad("its bytes are not base64"))?;
            let html = String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
            (html, blob.meta)
        }
        _ => return Err(bad("it has neither `text` nor `blob`")),
    };
    if html.trim().is_empty() {
        return Err(bad("it is empty"));
    }
    if html.len() > MAX_PAGE_BYTES {
        return Err(AppError::TooLarge {
            uri: uri.into(),
            bytes: html.len(),
            limit: MAX_PAGE_BYTES,
        });
    }
    let said = meta::read(said.as_ref())
        .transpose()
        .map_err(|error| bad(&format!("its `_meta.ui` is invalid: {error}")))?;
    Ok((html, said))
}

/// The metadata of a page in the list of resources. A page that is not listed asks for nothing.
async fn listed(server: &Connection, uri: &str) -> ResourceUi {
    let Ok(resources) = server.resources().await else {
        return ResourceUi::default();
    };
    let entry = resources.into_iter().find(|resource| resource.uri == uri);
    entry
        .and_then(|entry| meta::read(entry.meta.as_ref())?.ok())
        .unwrap_or_default()
}
