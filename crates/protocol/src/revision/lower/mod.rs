//! Lowering: converts values to the revision of the peer.

mod ask;
mod message;
mod value;

use super::{
    Revision, draft, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28, v2026_07_28::retired,
};
use crate::Meta;

/// A value that can be converted to the form of an older revision.
///
/// Members that the revision does not have are removed, or converted to the nearest equivalent.
/// Lowering to 2026-07-28 only clears members of older revisions, so it takes almost no time.
///
/// ```
/// use turnbuckle_protocol::{CallToolResult, Revision, revision::Lower};
///
/// let mut result = CallToolResult::structured(&[1, 2])?;
/// result.lower(Revision::V2025_11_25); // which knows only objects
/// assert!(result.structured_content.is_none());
/// assert_eq!(result.content[0].as_text(), Some("[1,2]"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait Lower {
    /// Removes or converts members that `to` does not have.
    fn lower(&mut self, to: Revision);
}

impl<T: Lower> Lower for Option<T> {
    fn lower(&mut self, to: Revision) {
        if let Some(value) = self {
            value.lower(to);
        }
    }
}

impl<T: Lower> Lower for Vec<T> {
    fn lower(&mut self, to: Revision) {
        for value in self {
            value.lower(to);
        }
    }
}

impl<T: Lower> Lower for Box<T> {
    fn lower(&mut self, to: Revision) {
        (**self).lower(to);
    }
}

/// Runs the applicable steps of a value, from the newest revision to the oldest. `retired` removes the
/// members that 2026-07-28 has removed.
macro_rules! steps {
    ($value:expr, $to:expr, $function:ident: $($step:ident)+) => {
        $(if $step::applies($to) {
            $step::$function($value);
        })+
    };
}

use steps;

/// Lowers the `_meta` of a message, and removes it if it is then empty.
fn lower_meta(meta: &mut Option<Meta>, to: Revision) {
    let Some(map) = meta else { return };
    let was_empty = map.is_empty();
    steps!(map, to, meta: draft retired v2026_07_28 v2025_11_25);
    if map.is_empty() && !was_empty {
        *meta = None;
    }
}
