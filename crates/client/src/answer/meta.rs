//! The `_meta` of answers.

use turnbuckle_protocol::{InputResponse, Meta};

/// Returns the first key in the `_meta` of an answer that is not valid.
///
/// basic, `_meta`: the grammar of keys is the same for clients and servers.
pub(crate) fn invalid_key(answer: &InputResponse) -> Option<&str> {
    let meta = match answer {
        InputResponse::CreateMessage(result) => result.meta.as_ref(),
        InputResponse::ListRoots(result) => {
            let mut roots = result.roots.iter().filter_map(|root| root.meta.as_ref());
            let of_root = roots.find_map(Meta::invalid_key);
            return of_root.or_else(|| result.meta.as_ref()?.invalid_key());
        }
        InputResponse::Elicit(result) => result.meta.as_ref(),
        _ => None,
    };
    meta?.invalid_key()
}
