//! URI templates of resources (RFC 6570): expanding a template to a URI, and matching a URI with a template.
//!
//! [`Template::parse`] supports all four levels of the syntax. A client that wants to read a resource
//! of a template makes its URI with [`Template::expand`]; a server gets the values from the
//! URI with [`Template::matches`].
//!
//! ```
//! use serde_json::json;
//! use turnbuckle_uri_template::Template;
//!
//! // `uriTemplate` of an entry of `resources/templates/list`.
//! let seats = Template::parse("seat://{flight}/{row}{?class}")?;
//! assert_eq!(seats.variables().collect::<Vec<_>>(), ["flight", "row", "class"]);
//! let values = json!({"flight": "XY 1", "row": 12});
//! let uri = seats.expand(values.as_object().expect("an object"))?;
//! assert_eq!(uri, "seat://XY%201/12");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matches
//! RFC 6570 does not define how to match a URI, and for most templates there are several ways. These are the
//! rules of this crate. Matching takes time proportional to the length of the URI, for every URI.
//!
//! - `{name}` takes one or more characters. None of them may be a delimiter (`:/?#[]@!$&'()*+,;=`) unless
//!   it is percent-encoded. `{a,b}` takes both values, with a comma between them.
//! - `{+name}` takes one or more characters of any kind, including `/`, `?` and `#`.
//! - `{/name}`, `{.name}` and `{#name}` may be absent; of `{/a,b}`, the last names are absent first. If a value
//!   is present, it is not empty.
//! - `{?a,b}`, `{&a,b}` and `{;a,b}` take their pairs in any order, each at most once; any of them
//!   may be absent. A pair that is not in the template does not match. A query extends to the `#` or
//!   the end of the URI, path parameters to the next `/`, `?` or `#`, and their values may contain
//!   any other delimiter (`?at=10:30`). `{?a}{&b}` is one query.
//! - `{name*}` gives a list: values with commas (`{name*}`), segments (`{/name*}`), labels
//!   (`{.name*}`) or repeated pairs (`{?name*}`). Query pairs that are not in the template become an
//!   object, as the value of the first `{?name*}` that has no pair with its own name.
//! - `{name:3}` takes at most three characters. A name that occurs twice must have the same value.
//! - From left to right, every variable takes **the fewest characters** with which the rest still
//!   matches, and an optional part is present if it can be: `{name}{.type}` reads `a.tar.gz` as
//!   `a` and `tar.gz`, and `{+path}{?page}` leaves the query to `page`.
//! - Literals and values are compared as RFC 3986 compares them: `%7E` equals `~`, `%2f` equals `%2F` but
//!   not `/`. Values are percent-decoded once. A value that is not UTF-8 then does not match.
//! - Characters that should have been encoded and have no meaning in a URI (a space, `é`) are read
//!   as if they were encoded. Control characters, braces and a stray `%` never match, nor does a URI
//!   of more than [`MAX_URI_BYTES`].
//!
//! # Path traversal
//! A value is often used as a file name, so a value that leads out of its folder does not match; see
//! [`Template::allow_any_path`].

mod binding;
mod encode;
mod expand;
mod expression;
mod matching;
mod pairs;
mod parse;
mod pattern;
#[cfg(test)]
mod round_trip;
mod specificity;
mod template;
mod traversal;
mod unit;

pub use binding::Variables;
pub use expand::ExpandError;
pub use matching::MAX_URI_BYTES;
pub use parse::{MAX_TEMPLATE_BYTES, MAX_VARIABLES, TemplateError, TemplateProblem};
pub use specificity::Specificity;
pub use template::Template;
