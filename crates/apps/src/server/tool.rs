//! Pages on tools that are registered elsewhere.

use turnbuckle_protocol::ExtensionSpec as _;
use turnbuckle_server::Tool;

use crate::{
    ToolUi, Ui, Visibility,
    meta::{KEY, written},
};

/// Connects a [`Tool`] to a page. [`App::tool`](crate::App::tool) does this for you; this trait is
/// for tools that are registered elsewhere, and for pages that several apps share.
pub trait UiTool: Sized {
    /// Names the page that shows its results.
    fn ui(self, uri: impl Into<String>) -> Self;

    /// Says all that can be said.
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
        // apps: hosts keep from the model what is for pages alone. A client that declares nothing of
        // pages does not know that rule, and would hand such tools to its model.
        if ui.is_for(Visibility::Model) {
            tool
        } else {
            tool.listed_with(Ui::ID)
        }
    }
}
