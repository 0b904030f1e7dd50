//! The page's files, in the binary.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::answer::{self, Answer};

/// One file by its path.
type File = (&'static str, &'static [u8]);

macro_rules! file {
    ($path:literal) => {
        ($path, include_bytes!(concat!("../../page/", $path)))
    };
}

/// Every file of `page/`.
const FILES: &[File] = &[
    // The files, by name.
    file!("assets/api.js"),
    file!("assets/app-frame.js"),
    file!("assets/ask.js"),
    file!("assets/base.css"),
    file!("assets/call.css"),
    file!("assets/command-line.js"),
    file!("assets/control-nested.js"),
    file!("assets/control.js"),
    file!("assets/element.js"),
    file!("assets/failure.js"),
    file!("assets/field.js"),
    file!("assets/icon.js"),
    file!("assets/json.js"),
    file!("assets/keys.js"),
    file!("assets/layout.css"),
    file!("assets/logs-tab.js"),
    file!("assets/long-text.js"),
    file!("assets/main.js"),
    file!("assets/markdown.js"),
    file!("assets/offer-list.js"),
    file!("assets/palette.js"),
    file!("assets/panel.js"),
    file!("assets/result.js"),
    file!("assets/router.js"),
    file!("assets/run.js"),
    file!("assets/schema-form.js"),
    file!("assets/schema.js"),
    file!("assets/server-tab.js"),
    file!("assets/store.js"),
    file!("assets/subject.js"),
    file!("assets/tasks-tab.js"),
    file!("assets/theme.js"),
    file!("assets/tree.js"),
    file!("assets/uri-template.js"),
    file!("assets/validate.js"),
    file!("assets/virtual-list.js"),
    file!("assets/wire-detail.js"),
    file!("assets/wire-filter.js"),
    file!("assets/wire.css"),
    file!("assets/wire.js"),
    file!("index.html"),
];

/// A file of the page, or that there is none.
pub(super) fn answer(method: &Method, path: &str, headers: &HeaderMap, sandbox: &str) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return answer::wrong(StatusCode::METHOD_NOT_ALLOWED, "the page is only read");
    }
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some((name, content)) = FILES.iter().find(|(other, _)| *other == name) else {
        return answer::not_found("page");
    };
    let tag = tag(content);
    let known = headers.get(header::IF_NONE_MATCH);
    let mut answer = if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        answer::bytes(StatusCode::NOT_MODIFIED, kind(name), "")
    } else {
        answer::bytes(StatusCode::OK, kind(name), *content)
    };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    for (name, value) in [
        (header::ETAG, tag),
        (header::CONTENT_SECURITY_POLICY, policy(sandbox)),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    answer
}

/// Nothing from anywhere else, and frames from the sandbox alone.
fn policy(sandbox: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
         media-src 'self' data: blob:; connect-src 'self'; frame-src {sandbox}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}

fn tag(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, kind)| kind) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn collect(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, found);
            } else if path.file_name().is_some_and(|name| name != "README.md") {
                let name = path.strip_prefix(root).unwrap().to_string_lossy();
                found.push(name.replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/page"));
        let mut found = Vec::new();
        collect(root, root, &mut found);
        found.sort();
        let mut known: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        known.sort();
        assert_eq!(found, known, "add the file to the table in inspect/page.rs");
    }
}
