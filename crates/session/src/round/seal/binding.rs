//! The binding of a sealed state: its caller and its request.

use std::{fmt, sync::LazyLock};

use turnbuckle_protocol::envelope::Members;

use crate::round::canonical::{DIGEST_BYTES, Hasher};

/// The members of `params` that differ between a request and its retry.
const CHANGING: [&str; 3] = ["inputResponses", "requestState", "_meta"];

/// A digest of the content of a request. It is the same for the request and all its retries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestDigest([u8; DIGEST_BYTES]);

impl RequestDigest {
    /// Returns the digest of a method and its params.
    ///
    /// `inputResponses`, `requestState` and `_meta` are left out. Spacing, the order of members and the
    /// notation of numbers and strings do not affect it.
    ///
    /// ```
    /// use turnbuckle_protocol::envelope::{Frame, Message, parse};
    /// use turnbuckle_session::round::RequestDigest;
    ///
    /// let digest = |params: &str| {
    ///     let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    ///     let Ok(Frame::One(Message::Request(request))) = parse(text.as_bytes()) else { panic!() };
    ///     RequestDigest::of("tools/call", &request.params)
    /// };
    /// let first = digest(r#"{"name":"book","arguments":{"row":1,"flight":"XY1"}}"#);
    /// let retry = digest(r#"{"arguments":{"flight":"XY1","row":1.0},"name":"book","requestState":"…"}"#);
    /// assert_eq!(first, retry);
    /// assert_ne!(first, digest(r#"{"name":"book","arguments":{"row":2,"flight":"XY1"}}"#));
    /// ```
    pub fn of(method: &str, params: &Members<'_>) -> Self {
        let mut kept: Vec<_> = params
            .iter()
            .filter(|(name, _)| !CHANGING.contains(name))
            .collect();
        kept.sort_unstable_by_key(|(name, _)| *name);
        let mut hasher = Hasher::new("turnbuckle request");
        hasher.text(method);
        for (name, value) in kept {
            hasher.text(name);
            hasher.raw(value.get());
        }
        Self(hasher.finish())
    }

    /// Returns the digest of anything that is not a request of the protocol: a purpose and its subject.
    pub fn named(end: &str, target: &str) -> Self {
        let mut hasher = Hasher::new("turnbuckle end");
        hasher.text(end);
        hasher.text(target);
        Self(hasher.finish())
    }

    pub(super) const fn bytes(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }
}

impl fmt::Debug for RequestDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestDigest(")?;
        self.0
            .iter()
            .take(8)
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

/// The binding of a sealed state. It can only be opened with the same binding.
///
/// ```
/// use turnbuckle_session::round::{Binding, RequestDigest};
///
/// let request = RequestDigest::named("visit", "https://shop.example/pay");
/// let binding = Binding::new(request).with_caller("https://id.example alice");
/// # let _ = binding;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding<'a> {
    caller: Option<&'a str>,
    pub(super) request: RequestDigest,
}

impl<'a> Binding<'a> {
    /// Creates a binding to a request from an anonymous caller.
    pub const fn new(request: RequestDigest) -> Self {
        Self {
            caller: None,
            request,
        }
    }

    /// Adds the caller: the identity that the transport has verified, never one that the client claims.
    /// If there are several issuers of identities, the issuer must be part of the name.
    pub const fn with_caller(mut self, caller: &'a str) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Returns a digest that identifies the caller.
    pub(super) fn caller_digest(&self) -> [u8; DIGEST_BYTES] {
        static ANONYMOUS: LazyLock<[u8; DIGEST_BYTES]> = LazyLock::new(|| caller_digest(None));
        match self.caller {
            Some(caller) => caller_digest(Some(caller)),
            None => *ANONYMOUS,
        }
    }
}

fn caller_digest(caller: Option<&str>) -> [u8; DIGEST_BYTES] {
    let mut hasher = Hasher::new("turnbuckle caller");
    match caller {
        Some(caller) => hasher.text(caller),
        None => hasher.absent(),
    }
    hasher.finish()
}
