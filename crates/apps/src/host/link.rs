//! The pages in the metadata of tools, and who may call which tool.

use turnbuckle_protocol::Tool;

use super::AppError;
use crate::{
    SCHEME, ToolUi, Visibility,
    meta::{self, OLD_KEY},
};

/// Returns the URI of the page that shows a tool's results, or `None` if the tool has no page.
///
/// # Errors
/// If the tool's metadata cannot be read, or its URI is not that of a page. The tool can still be called.
pub fn page_of(tool: &Tool) -> Result<Option<String>, AppError> {
    let uri = match ui_of(tool) {
        Some(Ok(ui)) if ui.resource_uri.is_some() => ui.resource_uri,
        Some(Err(problem)) => {
            return Err(AppError::BadLink {
                tool: tool.name.as_str().into(),
                problem: problem.to_string().into(),
            });
        }
        // Servers that implement drafts of the extension use the old key.
        _ => old_link(tool),
    };
    match uri {
        Some(uri) if uri.strip_prefix(SCHEME).is_none_or(str::is_empty) => {
            Err(AppError::NotAPage {
                tool: tool.name.as_str().into(),
                uri: uri.into(),
            })
        }
        uri => Ok(uri),
    }
}

/// Whether the model may see and call the tool. Hosts must not offer other tools to the model.
///
/// Returns false if the tool's `_meta.ui` cannot be read, because it may be a tool that is only for pages.
pub fn is_for_model(tool: &Tool) -> bool {
    is_for(tool, Visibility::Model)
}

/// Whether pages of the same server may call the tool.
pub fn is_for_app(tool: &Tool) -> bool {
    is_for(tool, Visibility::App)
}

fn is_for(tool: &Tool, whom: Visibility) -> bool {
    match ui_of(tool) {
        None => true,
        Some(Ok(ui)) => ui.is_for(whom),
        Some(Err(_)) => false,
    }
}

fn ui_of(tool: &Tool) -> Option<Result<ToolUi, serde_json::Error>> {
    meta::read(tool.meta.as_ref())
}

fn old_link(tool: &Tool) -> Option<String> {
    let uri = tool.meta.as_ref()?.value(OLD_KEY)?;
    uri.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use turnbuckle_protocol::Meta;

    use super::*;

    fn tool(meta: Value) -> Tool {
        let mut tool = Tool::new("t", serde_json::Map::new());
        tool.meta = serde_json::from_value::<Meta>(meta).ok();
        tool
    }

    #[test]
    fn a_tool_without_ui_is_for_models_and_pages_and_has_no_page() {
        let plain = Tool::new("t", serde_json::Map::new());
        assert!(is_for_model(&plain) && is_for_app(&plain));
        assert!(matches!(page_of(&plain), Ok(None)));
    }

    // rule: W2
    #[test]
    fn both_forms_of_the_link_are_read_and_the_new_one_wins() {
        let new = tool(json!({"ui": {"resourceUri": "ui://new"}, "ui/resourceUri": "ui://old"}));
        assert_eq!(page_of(&new).unwrap().as_deref(), Some("ui://new"));
        let old = tool(json!({"ui/resourceUri": "ui://old"}));
        assert_eq!(page_of(&old).unwrap().as_deref(), Some("ui://old"));
    }

    #[test]
    fn an_address_that_is_not_a_page_is_refused() {
        for uri in ["https://evil.example/", "ui://", "file:///etc/passwd", ""] {
            let tool = tool(json!({"ui": {"resourceUri": uri}}));
            assert!(
                matches!(page_of(&tool), Err(AppError::NotAPage { .. })),
                "{uri}"
            );
        }
        let odd = tool(json!({"ui": {"resourceUri": 7}}));
        assert!(matches!(page_of(&odd), Err(AppError::BadLink { .. })));
    }

    // apps: the host MUST NOT show the model what is for apps alone.
    #[test]
    fn visibility_is_kept() {
        let app = tool(json!({"ui": {"visibility": ["app"]}}));
        assert!(!is_for_model(&app) && is_for_app(&app));
        let model = tool(json!({"ui": {"visibility": ["model"]}}));
        assert!(is_for_model(&model) && !is_for_app(&model));
        let none = tool(json!({"ui": {"visibility": []}}));
        assert!(!is_for_model(&none) && !is_for_app(&none));
        let odd = tool(json!({"ui": {"visibility": "app"}}));
        assert!(!is_for_model(&odd) && !is_for_app(&odd));
    }
}
