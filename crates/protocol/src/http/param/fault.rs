//! Errors in header annotations, and between the arguments of a call and its headers.

use super::Param;
use crate::http::BadHeader;

/// Which rule an annotation breaks, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotationFault {
    /// The name is not a string.
    #[error("`x-mcp-header` of `{path}` is not a string; name the header")]
    NotText {
        /// The path of the property.
        path: String,
    },
    /// The name is empty.
    #[error("`x-mcp-header` of `{path}` is empty; name the header")]
    Empty {
        /// The path of the property.
        path: String,
    },
    /// The name is not a token of HTTP.
    #[error(
        "`x-mcp-header` of `{path}` is {name:?}, which is not a header name; \
         use letters, digits and !#$%&'*+-.^_`|~"
    )]
    NotToken {
        /// The path of the property.
        path: String,
        /// The name.
        name: String,
    },
    /// The name is already used; header names are case-insensitive.
    #[error("`x-mcp-header` {name:?} of `{path}` is also used by `{other}`; rename one")]
    Duplicate {
        /// The path of the property.
        path: String,
        /// The name.
        name: String,
        /// The path of the property that already has the name.
        other: String,
    },
    /// The type of the property is not allowed in a header.
    #[error("`x-mcp-header` of `{path}` needs type string, integer or boolean, not {found}")]
    Type {
        /// The path of the property.
        path: String,
        /// The type as the schema gives it, or `none`.
        found: String,
    },
    /// The annotation is at a place that does not belong to a single value.
    #[error(
        "`x-mcp-header` at `{path}` is allowed only in schemas that are reached by `properties` alone; \
         remove it there"
    )]
    Unreachable {
        /// The path of the annotation, including the keywords on the way.
        path: String,
    },
}

/// Why the headers of a call do not match its arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The argument is present, but its header is missing.
    #[error("header `{header}` is missing; repeat argument `{path}` in it")]
    Missing {
        /// The name of the header, in lower case.
        header: String,
        /// The path of the argument.
        path: String,
    },
    /// The header is present, but the argument is missing or null.
    #[error("header `{header}` was sent, but argument `{path}` was not; leave the header out")]
    Unexpected {
        /// The name of the header, in lower case.
        header: String,
        /// The path of the missing argument.
        path: String,
    },
    /// The header and the argument have different values.
    #[error("header `{header}` differs from argument `{path}`")]
    Mismatch {
        /// The name of the header, in lower case.
        header: String,
        /// The path of the argument.
        path: String,
    },
    /// The header cannot be decoded.
    #[error("header `{header}` cannot be read: {source}")]
    Malformed {
        /// The name of the header, in lower case.
        header: String,
        /// The problem with its value.
        source: BadHeader,
    },
    /// The argument is an integer outside of the range that a header may carry.
    #[error("argument `{path}` is beyond ±(2^53 − 1), so header `{header}` cannot repeat it")]
    OutOfRange {
        /// The name of the header, in lower case.
        header: String,
        /// The path of the argument.
        path: String,
    },
    /// The arguments are not JSON.
    #[error("the arguments cannot be read as JSON: {reason}")]
    Unreadable {
        /// The error of the JSON parser.
        reason: String,
    },
}

impl HeaderFault {
    pub(super) fn missing(param: &Param) -> Self {
        let Param { header, path } = param.clone();
        Self::Missing { header, path }
    }

    pub(super) fn unexpected(param: &Param) -> Self {
        let Param { header, path } = param.clone();
        Self::Unexpected { header, path }
    }

    pub(super) fn mismatch(param: &Param) -> Self {
        let Param { header, path } = param.clone();
        Self::Mismatch { header, path }
    }

    pub(super) fn out_of_range(param: &Param) -> Self {
        let Param { header, path } = param.clone();
        Self::OutOfRange { header, path }
    }
}
