//! What a box belongs to: a caller and a request.

use std::{fmt, sync::LazyLock};

use turnbuckle_protocol::envelope::Members;

use crate::round::canonical::{DIGEST_BYTES, Hasher};

/// The members of `params` that differ between a request and its retry.
const CHANGING: [&str; 3] = ["inputResponses", "requestState", "_meta"];

/// A digest of what a request asks for; see [`params_digest`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamsDigest([u8; DIGEST_BYTES]);

impl fmt::Debug for ParamsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParamsDigest(")?;
        self.0
            .iter()
            .take(8)
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

/// The digest of the params of a request, the same for the request and all its retries.
///
/// `inputResponses`, `requestState` and `_meta` are left out. Spacing, the order of members and
/// the way numbers and strings are written make no difference.
///
/// ```
/// use turnbuckle_protocol::envelope::{Frame, Message, parse};
/// use turnbuckle_session::round::params_digest;
///
/// let digest = |params: &str| {
///     let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
///     let Ok(Frame::One(Message::Request(request))) = parse(text.as_bytes()) else { panic!() };
///     params_digest(&request.params)
/// };
/// let first = digest(r#"{"name":"book","arguments":{"row":1,"flight":"XY1"}}"#);
/// let retry = digest(r#"{"arguments":{"flight":"XY1","row":1.0},"name":"book","requestState":"…"}"#);
/// assert_eq!(first, retry);
/// assert_ne!(first, digest(r#"{"name":"book","arguments":{"row":2,"flight":"XY1"}}"#));
/// ```
pub fn params_digest(params: &Members<'_>) -> ParamsDigest {
    let mut kept: Vec<_> = params
        .iter()
        .filter(|(name, _)| !CHANGING.contains(name))
        .collect();
    kept.sort_unstable_by_key(|(name, _)| *name);
    let mut hasher = Hasher::new("turnbuckle params");
    for (name, value) in kept {
        hasher.text(name);
        hasher.raw(value.get());
    }
    ParamsDigest(hasher.finish())
}

/// What a box belongs to. It opens only for the same.
///
/// ```
/// use turnbuckle_session::round::Binding;
///
/// let binding = Binding::new("tools/call").with_caller("https://id.example alice").with_target("book");
/// # let _ = binding;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding<'a> {
    caller: Option<&'a str>,
    method: &'a str,
    target: Option<&'a str>,
    params: Option<ParamsDigest>,
}

impl<'a> Binding<'a> {
    /// Belongs to requests of a method, from somebody who is not known.
    pub const fn new(method: &'a str) -> Self {
        Self {
            caller: None,
            method,
            target: None,
            params: None,
        }
    }

    /// Belongs to a caller: who the transport says it is, never who the client says it is. Where
    /// several issuers vouch for callers, the issuer is part of the name.
    pub const fn with_caller(mut self, caller: &'a str) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Belongs to a tool or prompt by its name, or to a resource by its URI.
    pub const fn with_target(mut self, target: &'a str) -> Self {
        self.target = Some(target);
        self
    }

    /// Belongs to requests with these params.
    pub const fn with_params(mut self, params: ParamsDigest) -> Self {
        self.params = Some(params);
        self
    }

    /// Tells callers apart.
    pub(super) fn caller_digest(&self) -> [u8; DIGEST_BYTES] {
        static NOBODY: LazyLock<[u8; DIGEST_BYTES]> = LazyLock::new(|| {
            let mut hasher = Hasher::new("turnbuckle caller");
            hasher.absent();
            hasher.finish()
        });
        if self.caller.is_none() {
            return *NOBODY;
        }
        let mut hasher = Hasher::new("turnbuckle caller");
        take(&mut hasher, self.caller);
        hasher.finish()
    }

    /// Tells requests apart.
    pub(super) fn request_digest(&self) -> [u8; DIGEST_BYTES] {
        let mut hasher = Hasher::new("turnbuckle request");
        hasher.text(self.method);
        take(&mut hasher, self.target);
        match self.params {
            Some(ParamsDigest(digest)) => hasher.bytes(&digest),
            None => hasher.absent(),
        }
        hasher.finish()
    }
}

fn take(hasher: &mut Hasher, text: Option<&str>) {
    match text {
        Some(text) => hasher.text(text),
        None => hasher.absent(),
    }
}
