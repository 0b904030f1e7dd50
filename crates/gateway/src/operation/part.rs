//! Parts of resources.

/// Whether a URI is that of a part of a resource: it continues the resource's URI with a path, a
/// query or a fragment.
pub(crate) fn is_part_of(whole: &str, uri: &str) -> bool {
    let rest = uri.strip_prefix(whole);
    rest.is_some_and(|rest| whole.ends_with('/') || rest.starts_with(['/', '#', '?']))
}
