//! Arguments of a tool that are repeated in headers: the `x-mcp-header` annotation.
//!
//! streamable-http, "Custom Headers from Tool Parameters". [`ParamHeaders::of`] parses the annotations
//! of an input schema once; the result creates a client's headers and checks a server's.

mod annotation;
mod argument;
mod check;
mod fault;

pub use fault::{AnnotationFault, HeaderFault};

use serde::Deserializer;

use crate::JsonObject;
use argument::Found;

/// The arguments of one tool that are repeated in headers.
///
/// Arguments are passed as JSON text or as an object (`&RawValue`, `&JsonObject`); arguments without an
/// annotation are skipped without being built.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_protocol::http::ParamHeaders;
///
/// let schema = json!({"type": "object", "properties": {
///     "region": {"type": "string", "x-mcp-header": "Region"},
///     "query": {"type": "string"},
/// }});
/// let params = ParamHeaders::of(schema.as_object().unwrap())?;
/// let arguments = json!({"region": "eu", "query": "SELECT 1"});
/// let headers = params.headers_for(arguments.as_object().unwrap())?;
/// assert_eq!(headers, [("mcp-param-region", "eu".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders {
    params: Vec<Param>,
    root: Node,
}

/// One annotated property.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Param {
    /// The complete name of the header, in lower case.
    header: String,
    /// The path of the property in dotted form: `a.b`.
    path: String,
}

/// A property on the path to an annotated one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// The index of the param, if this property is annotated.
    param: Option<usize>,
    children: Vec<(String, Node)>,
}

impl ParamHeaders {
    /// Parses the annotations of a tool's input schema.
    ///
    /// # Errors
    ///
    /// Fails if an annotation breaks a rule. A client over HTTP then leaves the tool out of its list
    /// and keeps the others; a server should refuse to register it.
    pub fn of(input_schema: &JsonObject) -> Result<Self, AnnotationFault> {
        annotation::scan(input_schema)
    }

    /// Returns whether no argument is repeated in a header.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// Returns the names of the headers, in lower case and in the order of the schema.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|param| param.header.as_str())
    }

    /// Returns the headers that a client sends for these arguments, with names in lower case.
    ///
    /// An argument that is missing or null has no header, and neither has an object or an array, which
    /// the schema does not allow anyway.
    ///
    /// # Errors
    ///
    /// Fails if an annotated integer is beyond ±(2^53 − 1), which a header must not carry.
    pub fn headers_for<'a>(
        &self,
        arguments: impl Deserializer<'a>,
    ) -> Result<Vec<(&str, String)>, HeaderFault> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let mut headers = Vec::with_capacity(self.params.len());
        for (param, found) in self.arguments(arguments)? {
            if let Some(value) = check::written(param, &found)? {
                headers.push((param.header.as_str(), value));
            }
        }
        Ok(headers)
    }

    /// Checks that the headers of a request match its arguments.
    ///
    /// `lookup` gets a header's name in lower case and returns its value. If a header occurs on several
    /// lines, return all of them as one value, joined by commas: it then matches no value of a single
    /// line.
    ///
    /// # Errors
    ///
    /// Fails if a header is missing, cannot be decoded, differs from the argument, or belongs to an
    /// argument that is missing. Answer with status 400 and a header mismatch.
    pub fn check<'a, 'h>(
        &self,
        arguments: impl Deserializer<'a>,
        lookup: impl Fn(&str) -> Option<&'h [u8]>,
    ) -> Result<(), HeaderFault> {
        if self.is_empty() {
            return Ok(());
        }
        let found = self.arguments(arguments)?;
        self.check_found(&found, &lookup)
    }

    /// Returns the annotated arguments that are present and not null, in order.
    fn arguments<'a>(
        &self,
        arguments: impl Deserializer<'a>,
    ) -> Result<Vec<(&Param, Found<'a>)>, HeaderFault> {
        let found = argument::find(&self.root, arguments)?;
        Ok(found
            .into_iter()
            .filter_map(|(index, found)| Some((self.params.get(index)?, found)))
            .collect())
    }

    fn check_found<'h>(
        &self,
        found: &[(&Param, Found<'_>)],
        lookup: &dyn Fn(&str) -> Option<&'h [u8]>,
    ) -> Result<(), HeaderFault> {
        for (param, found) in found {
            check::compare(param, found, lookup(&param.header))?;
        }
        for param in &self.params {
            // Compared by address, because each param has its own place in the schema.
            let is_found = found.iter().any(|(other, _)| std::ptr::eq(*other, param));
            if !is_found && lookup(&param.header).is_some() {
                return Err(HeaderFault::unexpected(param));
            }
        }
        Ok(())
    }
}
