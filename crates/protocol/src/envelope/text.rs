//! Strings, borrowed from the message if they have no escapes.

use std::borrow::Cow;

use super::Raw;

/// Returns the text of a JSON string; `None` for any other value.
pub fn text_of<'a>(raw: impl Into<Raw<'a>>) -> Option<Cow<'a, str>> {
    let text = raw.into().get();
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    if inside.as_bytes().contains(&b'\\') {
        return serde_json::from_str(text).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}
