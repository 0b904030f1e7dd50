//! One page, and the tools that belong to it.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::{ReadResourceResult, ResourceContents, TextResourceContents};
use turnbuckle_server::{Handler, IntoTool, Resource, Tool};

use super::UiTool as _;
use crate::{
    Csp, MIME_TYPE, Permissions, ResourceUi, SCHEME, ToolUi, Visibility,
    meta::{KEY, is_origin, whole, written},
};

/// A page, and the tools whose results it shows.
///
/// [`Apps`](crate::Apps) serves it. The [crate's example](crate) shows both.
#[must_use = "an app does nothing until `Apps` is given it"]
pub struct App {
    uri: String,
    page: Page,
    name: Option<String>,
    title: Option<String>,
    about: Option<String>,
    ui: ResourceUi,
    tools: Vec<Tool>,
    pub(super) problems: Vec<String>,
}

/// Where a page comes from.
enum Page {
    /// It is always the same.
    Html(Cow<'static, str>),
    /// A handler writes it.
    Served(Box<Resource>),
}

impl App {
    /// A page at this `ui://` address with fixed content.
    pub fn html(uri: impl Into<String>, html: impl Into<Cow<'static, str>>) -> Self {
        let html = html.into();
        let is_empty = html.trim().is_empty();
        let mut app = Self::at(uri.into(), Page::Html(html));
        if is_empty {
            app.problems
                .push(format!("the page `{}` is empty", app.uri));
        }
        app
    }

    /// A page at this `ui://` address that a handler writes again for each reading. Its needs are
    /// part of the list of resources.
    pub fn from_handler<X>(
        uri: impl Into<String>,
        handler: impl Handler<X, ReadResourceResult>,
    ) -> Self {
        let uri = uri.into();
        let resource = Resource::new(uri.clone(), handler);
        Self::at(uri, Page::Served(Box::new(resource)))
    }

    fn at(uri: String, page: Page) -> Self {
        let mut problems = Vec::new();
        if uri.strip_prefix(SCHEME).is_none_or(str::is_empty) {
            problems.push(format!(
                "the address of a page begins with `{SCHEME}`, unlike `{uri}`"
            ));
        }
        Self {
            uri,
            page,
            name: None,
            title: None,
            about: None,
            ui: ResourceUi::default(),
            tools: Vec::new(),
            problems,
        }
    }

    /// Its name; the address otherwise.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// A title for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it shows.
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.about = Some(description.into());
        self
    }

    /// Names the origins that it needs. Without them it can load and reach nothing.
    pub fn csp(mut self, csp: Csp) -> Self {
        for origin in csp.origins().filter(|origin| !is_origin(origin)) {
            self.problems.push(format!(
                "`{origin}` is not an origin; write it like `https://api.example.com`"
            ));
        }
        self.ui.csp = Some(csp);
        self
    }

    /// Says what it wants of the browser.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.ui.permissions = Some(permissions);
        self
    }

    /// Asks for an origin of its own, in the form that the host wants.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.ui.domain = Some(domain.into());
        self
    }

    /// Wants a border.
    pub fn bordered(mut self) -> Self {
        self.ui.prefers_border = Some(true);
        self
    }

    /// Wants no border.
    pub fn borderless(mut self) -> Self {
        self.ui.prefers_border = Some(false);
        self
    }

    /// Adds a tool whose results it shows. The model may call it, and so may the page.
    pub fn tool<X>(self, tool: impl IntoTool<X>) -> Self {
        self.with_tool(tool.into_tool(), None)
    }

    /// Adds a tool whose results it shows and which only the model may call.
    pub fn model_tool<X>(self, tool: impl IntoTool<X>) -> Self {
        self.with_tool(tool.into_tool(), Some(vec![Visibility::Model]))
    }

    /// Adds a tool for the page alone: hosts keep it from the model. Clients that do not know apps
    /// see it as any other, so let it check what it is asked.
    pub fn app_tool<X>(self, tool: impl IntoTool<X>) -> Self {
        self.with_tool(tool.into_tool(), Some(vec![Visibility::App]))
    }

    fn with_tool(mut self, tool: Tool, visibility: Option<Vec<Visibility>>) -> Self {
        let ui = ToolUi {
            resource_uri: Some(self.uri.clone()),
            visibility,
        };
        self.tools.push(tool.with_ui(&ui));
        self
    }

    /// The resource and the tools.
    pub(super) fn into_parts(self) -> (Resource, Vec<Tool>) {
        let mut resource = match self.page {
            Page::Html(html) => fixed(self.uri, html, &self.ui),
            Page::Served(resource) => *resource,
        };
        resource = resource.mime_type(MIME_TYPE);
        if let Some(name) = self.name {
            resource = resource.name(name);
        }
        if let Some(title) = self.title {
            resource = resource.title(title);
        }
        if let Some(about) = self.about {
            resource = resource.about(about);
        }
        if self.ui != ResourceUi::default() {
            resource = resource.meta(KEY, written(&self.ui));
        }
        (resource, self.tools)
    }
}

/// A page that is always the same. What it needs is told with it too, since hosts need not list
/// resources.
fn fixed(uri: String, html: Cow<'static, str>, ui: &ResourceUi) -> Resource {
    let size = html.len() as u64;
    let mut page = TextResourceContents::new("", html).with_mime_type(MIME_TYPE);
    page.meta = (*ui != ResourceUi::default()).then(|| whole(ui));
    let contents = Arc::new(ResourceContents::Text(page));
    let read = move || {
        let contents = Arc::clone(&contents);
        async move { ResourceContents::clone(&contents) }
    };
    Resource::new(uri, read).size(size)
}
