//! Checks descriptions: their length, and characters that people do not see.

use serde_json::Value;

use super::{subschema, tool::Place};
use crate::{finding::Finding, table::schema};

/// The longest description that OpenAI accepts, in characters.
const MAX_DESCRIPTION: usize = 1024;

pub(super) fn look(place: &Place<'_>, tool: &Value) {
    let description = tool["description"].as_str().unwrap_or_default();
    if description.trim().is_empty() {
        let said = "a tool has no description";
        place.found(Finding::of(&schema::DESCRIPTION, said), "");
    }
    let length = description.chars().count();
    if length > MAX_DESCRIPTION {
        let said = format!("a description is longer than {MAX_DESCRIPTION} characters");
        let finding = Finding::of(&schema::DESCRIPTION_LENGTH, said);
        place.found(finding.seen(format!("{length} characters")), "");
    }
    for member in ["name", "title", "description"] {
        seen(place, tool[member].as_str(), &format!("/{member}"));
    }
    subschema::walk(&tool["inputSchema"], &mut |sub| {
        let words = sub.schema["description"].as_str();
        seen(place, words, &format!("{}/description", sub.pointer));
    });
}

fn seen(place: &Place<'_>, text: Option<&str>, pointer: &str) {
    let odd = text.and_then(|text| text.chars().find(|letter| is_invisible(*letter)));
    if let Some(odd) = odd {
        let said = format!(
            "a text has the invisible character U+{:04X}",
            u32::from(odd)
        );
        place.found(Finding::of(&schema::INVISIBLE, said), pointer);
    }
}

/// Whether a character is a control character, invisible, or changes the direction of others. Joiners, which emoji and
/// some scripts need, are allowed.
fn is_invisible(letter: char) -> bool {
    match letter {
        '\n' | '\r' | '\t' => false,
        // The last range is tags: an alphabet that is invisible to users but not to models.
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}' => true,
        letter => letter.is_control(),
    }
}
