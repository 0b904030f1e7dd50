//! URI templates of resources: RFC 6570 in both directions.
//!
//! [`Template::parse`] reads all four levels of the syntax. A client that wants to read a resource
//! of a template makes its URI with [`Template::expand`]; a server gets the values back out of the
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
//! RFC 6570 defines no way back, and for most templates there are several. This is ours; it takes
//! time proportional to the length of the URI, whatever the URI.
//!
//! - `{name}` takes one or more characters, none of them a delimiter (`:/?#[]@!$&'()*+,;=`) unless
//!   it is percent-encoded. `{a,b}` takes both values, with a comma between them.
//! - `{+name}` takes one or more characters of any kind, `/`, `?` and `#` among them.
//! - `{/name}`, `{.name}` and `{#name}` may be absent; of `{/a,b}`, the last names first. A value
//!   that is there is not empty.
//! - `{?a,b}`, `{&a,b}` and `{;a,b}` take their pairs in any order, each at most once, any of them
//!   absent. A pair that the template does not name does not match. A query goes on to the `#` or
//!   the end of the URI, path parameters to the next `/`, `?` or `#`, and a value in them may hold
//!   any other delimiter (`?at=10:30`). `{?a}{&b}` is one query.
//! - `{name*}` gives a list: values with commas (`{name*}`), segments (`{/name*}`), labels
//!   (`{.name*}`) or repeated pairs (`{?name*}`). A query whose pairs the template does not name
//!   goes to its first `{?name*}` that has no pair of its own, as an object.
//! - `{name:3}` takes at most three characters. A name that comes twice has to have one value.
//! - From left to right, every variable takes **the fewest characters** with which the rest still
//!   matches, and what may be absent is present if it can be: `{name}{.type}` reads `a.tar.gz` as
//!   `a` and `tar.gz`, and `{+path}{?page}` leaves the query to `page`.
//! - Literals and values are compared as RFC 3986 compares them: `%7E` is `~`, `%2f` is `%2F` but
//!   not `/`. Values come percent-decoded, once. What is not UTF-8 then does not match.
//! - Characters that should have been encoded and mean nothing in a URI (a space, `é`) are taken
//!   as if they had been. Control characters, braces and a stray `%` never match, nor does a URI
//!   of more than [`MAX_URI_BYTES`].
//!
//! # What is kept out
//! A value is often used as a file name, so a value that leaves its folder does not match: see
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
