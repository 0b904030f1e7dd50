//! Pages for tools that are registered outside of an [`App`](crate::App).

use turnbuckle_protocol::ExtensionSpec as _;
use turnbuckle_server::Tool;

use crate::{
    ToolUi, Ui, Visibility,
    meta::{KEY, written},
};

/// Connects a [`Tool`] to a page. [`App::tool`](crate::App::tool) does this for you; use this trait
/// for tools that are registered elsewhere, and for pages that several apps share.
pub trait UiTool: Sized {
    /// Sets the URI of the page that shows the tool's results.
    fn ui(self, uri: impl Into<String>) -> Self;

    /// Sets all of the tool's UI metadata.
    fn with_ui(self, ui: &ToolUi) -> Self;
}

impl UiTool for Tool {
    fn ui(self, uri: impl Into<String>) -> Self {
        self.with_ui(&ToolUi {
            resource_uri: Some(uri.into()),
            visibility: None,
        })
    }

    fn with_ui(self, ui: &ToolUi) -> Self {
        let tool = self.meta(KEY, written(ui));
        // apps: hosts do not offer tools for pages to the model. A client that does not declare apps does not know this
        // rule, and would give such tools to its model.
        if ui.is_for(Visibility::Model) {
            tool
        } else {
            tool.listed_with(Ui::ID)
        }
    }
}
