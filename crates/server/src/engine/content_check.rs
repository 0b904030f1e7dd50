//! Checks results of handlers against the grammar of the specification.
//!
//! Plain text needs no check, so this costs nothing for results of text.

use turnbuckle_protocol::{
    ContentBlock, Meta, Resource, ResourceContents,
    grammar::{is_base64, is_media_type, is_meta_key, uri_problem},
};

/// Removes keys of `_meta` that break its grammar, and reports them. The rest of the result is
/// still useful, and a gateway may forward keys of another server.
// meta: a key MUST follow the grammar.
pub(super) fn drop_bad_keys(meta: &mut Meta) {
    let is_good = |key: &str| is_meta_key(key);
    if meta.0.keys().all(|key| is_good(key)) {
        return;
    }
    meta.0.retain(|key, _| {
        let is_kept = is_good(key);
        if !is_kept {
            tracing::warn!(key, "a key of `_meta` in a result is not valid; left out");
        }
        is_kept
    });
}

/// The `_meta` of a content block, and that of a resource embedded in it.
pub(super) fn block_metas(block: &mut ContentBlock) -> impl Iterator<Item = &mut Meta> {
    let (own, embedded) = match block {
        ContentBlock::Text(text) => (text.meta.as_mut(), None),
        ContentBlock::Image(image) => (image.meta.as_mut(), None),
        ContentBlock::Audio(audio) => (audio.meta.as_mut(), None),
        ContentBlock::ResourceLink(link) => (link.resource.meta.as_mut(), None),
        ContentBlock::Resource(embedded) => {
            let inner = contents_meta(&mut embedded.resource);
            (embedded.meta.as_mut(), inner)
        }
        _ => (None, None),
    };
    own.into_iter().chain(embedded)
}

/// The `_meta` of the contents of a resource.
pub(super) fn contents_meta(contents: &mut ResourceContents) -> Option<&mut Meta> {
    match contents {
        ResourceContents::Text(text) => text.meta.as_mut(),
        ResourceContents::Blob(blob) => blob.meta.as_mut(),
        _ => None,
    }
}

/// Returns why a content block must not be sent; `None` if it is valid.
pub(super) fn block_problem(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Image(image) => media_problem("image", &image.data, &image.mime_type),
        ContentBlock::Audio(audio) => media_problem("audio", &audio.data, &audio.mime_type),
        ContentBlock::ResourceLink(link) => {
            let (uri, mime_type) = (&link.resource.uri, link.resource.mime_type.as_deref());
            address_problem(uri).or_else(|| media_type_problem(uri, mime_type))
        }
        ContentBlock::Resource(embedded) => address_problem(embedded.resource.uri())
            .or_else(|| contents_problem(&embedded.resource)),
        _ => None,
    }
}

/// Returns why the contents of a resource must not be sent; `None` if they are valid. Their URI is
/// checked by [`read_problem`].
pub(super) fn contents_problem(contents: &ResourceContents) -> Option<String> {
    let (uri, mime_type) = match contents {
        ResourceContents::Text(text) => (&text.uri, &text.mime_type),
        ResourceContents::Blob(blob) if !is_base64(&blob.blob) => {
            return Some(format!("the blob of `{}` is not base64", blob.uri));
        }
        ResourceContents::Blob(blob) => (&blob.uri, &blob.mime_type),
        _ => return None,
    };
    media_type_problem(uri, mime_type.as_deref())
}

/// Returns why the contents of a resource must not be sent as the answer to a read of this URI;
/// `None` if they are valid. The requested URI itself is not checked, because the author did not
/// choose it.
pub(super) fn read_problem(contents: &ResourceContents, asked: &str) -> Option<String> {
    let uri = contents.uri();
    if uri == asked {
        return None;
    }
    address_problem(uri)
}

/// Removes resources with an invalid URI from a list, and invalid media types from resources, and
/// reports each. Other entries are kept.
pub(super) fn tidy_listed(resources: &mut Vec<Resource>) {
    resources.retain(|resource| {
        let problem = uri_problem(&resource.uri);
        if let Some(problem) = &problem {
            let (uri, problem) = (&*resource.uri, &**problem);
            tracing::error!(uri, problem, "a listed resource has no valid URI; left out");
        }
        problem.is_none()
    });
    for resource in resources {
        if let Some(problem) = media_type_problem(&resource.uri, resource.mime_type.as_deref()) {
            tracing::error!(
                problem,
                "a listed resource has no valid media type; left out"
            );
            resource.mime_type = None;
        }
        resource.meta.iter_mut().for_each(drop_bad_keys);
    }
}

/// Whether a content block is a resource or a link to one.
pub(super) fn is_resource(block: &ContentBlock) -> bool {
    matches!(
        block,
        ContentBlock::ResourceLink(_) | ContentBlock::Resource(_)
    )
}

fn media_problem(kind: &str, data: &str, mime_type: &str) -> Option<String> {
    if !is_base64(data) {
        return Some(format!("the data of {kind} content is not base64"));
    }
    let is_bad = !is_media_type(mime_type);
    is_bad.then(|| format!("`{mime_type}` of {kind} content is not a media type"))
}

fn address_problem(uri: &str) -> Option<String> {
    uri_problem(uri).map(|problem| format!("`{uri}` is not a URI: {problem}"))
}

fn media_type_problem(uri: &str, mime_type: Option<&str>) -> Option<String> {
    let bad = mime_type.filter(|mime_type| !is_media_type(mime_type))?;
    Some(format!(
        "`{bad}` of the resource `{uri}` is not a media type"
    ))
}
