//! The page that is compiled into the binary: one document with its modules and styles, as `build/` joins them.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::answer::{self, Answer};

const HTML: &str = "text/html; charset=utf-8";

/// The page, plain and compressed.
struct Page {
    /// The `ETag`, with which a browser asks whether the page has changed.
    tag: &'static str,
    /// The hashes of the script and the style, for the policy.
    script: &'static str,
    style: &'static str,
    plain: &'static [u8],
    brotli: &'static [u8],
    gzip: &'static [u8],
}

/// Generated when the binary is built.
const PAGE: Page = Page {
    tag: include_str!(concat!(env!("OUT_DIR"), "/page.tag")),
    script: include_str!(concat!(env!("OUT_DIR"), "/page.script")),
    style: include_str!(concat!(env!("OUT_DIR"), "/page.style")),
    plain: include_bytes!(concat!(env!("OUT_DIR"), "/page.html")),
    brotli: include_bytes!(concat!(env!("OUT_DIR"), "/page.html.br")),
    gzip: include_bytes!(concat!(env!("OUT_DIR"), "/page.html.gz")),
};

/// Whether the page has a file at this path.
pub(super) fn has(path: &str) -> bool {
    matches!(path, "/" | "/index.html") || folder::file(path).is_some()
}

/// The page, or an error for another path.
pub(super) fn answer(method: &Method, path: &str, headers: &HeaderMap, sandbox: &str) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return answer::wrong(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed here");
    }
    let (mut answer, policy) = match (folder::file(path), path) {
        (Some((kind, content)), _) => (
            answer::bytes(StatusCode::OK, kind, content),
            policy("'self'", "'self'", sandbox),
        ),
        (None, "/" | "/index.html") => (PAGE.answer(headers), PAGE.policy(sandbox)),
        (None, _) => return answer::not_found("page"),
    };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

impl Page {
    /// Responds with the smallest form that the browser accepts, or that it has the page already.
    fn answer(&self, headers: &HeaderMap) -> Answer {
        let (content, coding) = self.content(headers);
        // Each compression has its own tag.
        let tag = format!("\"{}{}\"", self.tag, coding.unwrap_or_default());
        let known = headers.get(header::IF_NONE_MATCH);
        let is_known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let mut answer = if is_known {
            answer::bytes(StatusCode::NOT_MODIFIED, HTML, "")
        } else {
            answer::bytes(StatusCode::OK, HTML, content)
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

    fn policy(&self, sandbox: &str) -> String {
        let hash = |of: &str| format!("'sha256-{of}'");
        policy(&hash(self.script), &hash(self.style), sandbox)
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

/// Whether a coding that a browser names is this one; `;q=0` excludes it.
fn takes(accepted: &str, coding: &str) -> bool {
    let (name, weight) = accepted.split_once(';').unwrap_or((accepted, ""));
    let weight = weight.trim().strip_prefix("q=");
    let is_refused = weight.is_some_and(|weight| weight.trim_matches(['0', '.']).is_empty());
    name.trim().eq_ignore_ascii_case(coding) && !is_refused
}

/// The policy: nothing from other origins, and frames only from the sandbox.
fn policy(script: &str, style: &str, sandbox: &str) -> String {
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; \
         img-src 'self' data: blob:; media-src 'self' data: blob:; connect-src 'self'; \
         frame-src {sandbox}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// For developers of the page: in debug builds, `TURNBUCKLE_PAGE` names a folder from which its
/// files are read for each request, so that a reload shows changes.
#[cfg(debug_assertions)]
mod folder {
    use std::{env, fs, path::Path};

    pub(super) fn file(path: &str) -> Option<(&'static str, Vec<u8>)> {
        let folder = env::var_os("TURNBUCKLE_PAGE")?;
        let name = match path.strip_prefix('/')? {
            "" => "index.html",
            name => name,
        };
        let kind = match name.rsplit_once('.')?.1 {
            "html" => super::HTML,
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => return None,
        };
        let leads_elsewhere = name.split('/').any(|part| part.is_empty() || part == "..");
        let content = (!leads_elsewhere).then(|| fs::read(Path::new(&folder).join(name)))?;
        Some((kind, content.ok()?))
    }
}

#[cfg(not(debug_assertions))]
mod folder {
    pub(super) fn file(_: &str) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(accepted: &str) -> (usize, Option<String>) {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(accepted).unwrap();
        headers.insert(header::ACCEPT_ENCODING, value);
        let (content, coding) = PAGE.content(&headers);
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

    /// The largest size of the whole page, compressed, in bytes.
    const MAX_PAGE: usize = 150_000;

    #[test]
    fn the_page_is_small() {
        assert!(PAGE.brotli.len() <= MAX_PAGE);
        assert!(PAGE.gzip.len() <= MAX_PAGE);
    }

    #[test]
    fn the_page_is_one_answer_that_runs_by_its_hashes() {
        let page = std::str::from_utf8(PAGE.plain).unwrap();
        assert!(
            !page.contains("src=") && !page.contains("\nimport ") && !page.contains("\nexport ")
        );
        let policy = PAGE.policy("http://127.0.0.1:1");
        assert!(!policy.contains("unsafe") && !policy.contains("script-src 'self'"));
        assert_eq!(policy.matches("'sha256-").count(), 2);
    }

    #[test]
    fn a_browser_that_has_it_is_told_so() {
        let mut headers = HeaderMap::new();
        let first = PAGE.answer(&headers);
        let tag = first.headers().get(header::ETAG).unwrap().clone();
        headers.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(PAGE.answer(&headers).status(), StatusCode::NOT_MODIFIED);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("br"));
        assert_eq!(PAGE.answer(&headers).status(), StatusCode::OK);
    }
}
