//! The page's files, in the binary.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::answer::{self, Answer};

/// One file of `page/`, as it is and compressed.
struct File {
    name: &'static str,
    /// What a browser says to ask whether it changed.
    tag: &'static str,
    plain: &'static [u8],
    brotli: &'static [u8],
    gzip: &'static [u8],
}

/// Every file of `page/`, by name; written by `build.rs`.
const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A file of the page, or that there is none.
pub(super) fn answer(method: &Method, path: &str, headers: &HeaderMap, sandbox: &str) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return answer::wrong(StatusCode::METHOD_NOT_ALLOWED, "the page is only read");
    }
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return answer::not_found("page");
    };
    let mut answer = match from_folder(name) {
        Some(content) => answer::bytes(StatusCode::OK, kind(name), content),
        None => file.answer(headers),
    };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(policy) = HeaderValue::from_str(&policy(sandbox)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

impl File {
    /// In the smallest form that the browser takes, or that it has it already.
    fn answer(&self, headers: &HeaderMap) -> Answer {
        let (content, coding) = self.content(headers);
        // Each form is a thing of its own to a cache.
        let tag = format!("\"{}{}\"", self.tag, coding.unwrap_or_default());
        let known = headers.get(header::IF_NONE_MATCH);
        let is_known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let mut answer = if is_known {
            answer::bytes(StatusCode::NOT_MODIFIED, kind(self.name), "")
        } else {
            answer::bytes(StatusCode::OK, kind(self.name), content)
        };
        let headers = answer.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        answer
    }

    fn content(&self, headers: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
        let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
        let accepted: Vec<&str> = accepted
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .collect();
        if accepted.iter().any(|coding| takes(coding, "br")) {
            return (self.brotli, Some("br"));
        }
        if accepted.iter().any(|coding| takes(coding, "gzip")) {
            return (self.gzip, Some("gzip"));
        }
        (self.plain, None)
    }
}

/// Whether one of the codings that a browser names is this one; `;q=0` says that it is not wanted.
fn takes(accepted: &str, coding: &str) -> bool {
    let (name, weight) = accepted.split_once(';').unwrap_or((accepted, ""));
    let weight = weight.trim().strip_prefix("q=");
    let is_refused = weight.is_some_and(|weight| weight.trim_matches(['0', '.']).is_empty());
    name.trim().eq_ignore_ascii_case(coding) && !is_refused
}

/// For whoever changes the page: in debug builds `TURNBUCKLE_PAGE` names a folder that its files are read
/// from, so that a reload shows them.
#[cfg(debug_assertions)]
fn from_folder(name: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("TURNBUCKLE_PAGE")?;
    // The name is one of the table, so it leads nowhere else.
    std::fs::read(std::path::Path::new(&folder).join(name)).ok()
}

#[cfg(not(debug_assertions))]
fn from_folder(_: &str) -> Option<Vec<u8>> {
    None
}

/// Nothing from anywhere else, and frames from the sandbox alone.
fn policy(sandbox: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; \
         img-src 'self' data: blob:; media-src 'self' data: blob:; connect-src 'self'; \
         frame-src {sandbox}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
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
    use super::*;

    fn asked(accepted: &str) -> (usize, Option<String>) {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(accepted).unwrap();
        headers.insert(header::ACCEPT_ENCODING, value);
        let file = FILES.iter().find(|file| file.name == "assets/main.js");
        let (content, coding) = file.unwrap().content(&headers);
        (content.len(), coding.map(str::to_owned))
    }

    #[test]
    fn a_browser_gets_the_smallest_form_it_takes() {
        let (plain, coding) = asked("identity");
        assert_eq!(coding, None);
        for (accepted, wanted) in [
            ("gzip, deflate, br, zstd", "br"),
            ("gzip;q=1.0, br;q=0", "gzip"),
            ("GZIP", "gzip"),
            ("br;q=0.5", "br"),
        ] {
            let (length, coding) = asked(accepted);
            assert_eq!(coding.as_deref(), Some(wanted), "{accepted}");
            assert!(length * 2 < plain, "{accepted}: {length} of {plain}");
        }
        assert_eq!(asked("x-gzip, brotli").1, None);
    }

    /// 150,000 bytes: what the whole page may take, compressed.
    const MAX_PAGE: usize = 150_000;

    #[test]
    fn the_page_is_small() {
        let sum = |form: fn(&File) -> &'static [u8]| -> usize {
            FILES.iter().map(|file| form(file).len()).sum()
        };
        assert!(sum(|file| file.brotli) <= MAX_PAGE);
        assert!(sum(|file| file.gzip) <= MAX_PAGE);
    }

    #[test]
    fn a_browser_that_has_it_is_told_so() {
        let file = FILES.iter().find(|file| file.name == "index.html").unwrap();
        let mut headers = HeaderMap::new();
        let first = file.answer(&headers);
        let tag = first.headers().get(header::ETAG).unwrap().clone();
        headers.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(file.answer(&headers).status(), StatusCode::NOT_MODIFIED);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("br"));
        assert_eq!(file.answer(&headers).status(), StatusCode::OK);
    }
}
