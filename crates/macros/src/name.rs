//! The names that peers see.

use syn::LitStr;

use crate::{kind::Kind, mistakes::Mistakes};

/// The longest tool name, in characters. Tools page, "Tool Names": SHOULD be between 1 and 128.
const TOOL_NAME_MAX: usize = 128;

/// Checks a name by the rules of its kind: strict for tools, non-empty for the rest.
pub(crate) fn check(kind: Kind, name: &LitStr, mistakes: &mut Mistakes) {
    let text = name.value();
    if text.is_empty() {
        mistakes.at(
            name,
            format!("the name of a {kind} is empty: give it at least one character"),
        );
        return;
    }
    if !matches!(kind, Kind::Tool) {
        return;
    }
    let length = text.chars().count();
    if length > TOOL_NAME_MAX {
        mistakes.at(
            name,
            format!(
                "this tool name has {length} characters: shorten it to {TOOL_NAME_MAX} or less"
            ),
        );
    }
    if let Some(stranger) = text.chars().find(|letter| !is_tool_name_letter(*letter)) {
        mistakes.at(
            name,
            format!(
                "`{text}` is not a tool name: {stranger:?} is not allowed, only A-Z, a-z, 0-9, \
                 `_`, `-` and `.`; set another one with `name = \"…\"`"
            ),
        );
    }
}

fn is_tool_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn complaint(kind: Kind, name: &str) -> Option<String> {
        let mut mistakes = Mistakes::default();
        check(kind, &LitStr::new(name, Span::call_site()), &mut mistakes);
        mistakes
            .into_compile_errors()
            .map(|tokens| tokens.to_string())
    }

    #[test]
    fn the_allowed_letters_pass() {
        assert_eq!(complaint(Kind::Tool, "admin.tools-list_2"), None);
        assert_eq!(complaint(Kind::Tool, &"x".repeat(128)), None);
    }

    #[test]
    fn length_and_letters_are_checked() {
        assert!(complaint(Kind::Tool, "").unwrap().contains("is empty"));
        assert!(
            complaint(Kind::Tool, &"x".repeat(129))
                .unwrap()
                .contains("129 characters")
        );
        assert!(
            complaint(Kind::Tool, "book seat")
                .unwrap()
                .contains("' ' is not allowed")
        );
        assert!(
            complaint(Kind::Tool, "größe")
                .unwrap()
                .contains("not a tool name")
        );
    }

    #[test]
    fn prompts_may_be_named_freely() {
        assert_eq!(complaint(Kind::Prompt, "Plan a trip"), None);
        assert!(complaint(Kind::Prompt, "").unwrap().contains("is empty"));
    }
}
