//! The extension, with all apps of a server.

use turnbuckle_server::Extension;

use super::App;
use crate::{Ui, UiServer};

/// The apps of a server. Pass it to [`Server::extension`](turnbuckle_server::Server::extension).
#[derive(Default)]
#[must_use = "apps do nothing until a server is given them"]
pub struct Apps {
    apps: Vec<App>,
}

impl Apps {
    /// Starts with no apps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an app.
    pub fn app(mut self, app: App) -> Self {
        self.apps.push(app);
        self
    }
}

impl From<Apps> for Extension {
    fn from(apps: Apps) -> Self {
        let mut extension = Self::of::<Ui>(&UiServer {});
        for mut app in apps.apps {
            for problem in std::mem::take(&mut app.problems) {
                extension = extension.problem(problem);
            }
            let (resource, tools) = app.into_parts();
            extension = extension.resource(resource);
            for tool in tools {
                extension = extension.tool(tool);
            }
        }
        extension
    }
}

impl From<App> for Extension {
    /// Makes an extension with one app.
    fn from(app: App) -> Self {
        Apps::new().app(app).into()
    }
}
