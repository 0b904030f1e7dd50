//! `Template`, with all its operations.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::binding::Variables;
use super::expand::{ExpandError, expand};
use super::expression::Part;
use super::matching::matches;
#[cfg(doc)]
use super::parse::{MAX_TEMPLATE_BYTES, MAX_VARIABLES};
use super::parse::{TemplateError, parse};
use super::pattern::Pattern;
use super::specificity::Specificity;
use super::traversal::Paths;

/// A URI template (RFC 6570, all levels), ready to expand and to match.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_uri_template::Template;
///
/// let seats = Template::parse("seat://{flight}/{row}{?class}")?;
/// let values = seats.matches("seat://XY%201/12?class=first").expect("the URI has this shape");
/// assert_eq!(json!(values), json!({"flight": "XY 1", "row": "12", "class": "first"}));
/// assert_eq!(seats.expand(&values)?, "seat://XY%201/12?class=first");
/// assert!(seats.matches("seat://XY1/..").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
    names: Vec<String>,
    pattern: Pattern,
    specificity: Specificity,
    paths: Paths,
}

impl Template {
    /// Parses a template. A plain URI is a template, too: see [`is_literal`](Self::is_literal).
    ///
    /// # Errors
    /// If the text is not a template by RFC 6570, or exceeds [`MAX_TEMPLATE_BYTES`] or
    /// [`MAX_VARIABLES`].
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let parts = parse(text)?;
        let mut names: Vec<String> = Vec::new();
        for part in &parts {
            let Part::Expression(expression) = part else {
                continue;
            };
            for variable in &expression.variables {
                if !names.contains(&variable.name) {
                    names.push(variable.name.clone());
                }
            }
        }
        Ok(Self {
            text: text.to_owned(),
            pattern: Pattern::new(&parts),
            specificity: Specificity::new(&parts),
            paths: Paths::Contained,
            parts,
            names,
        })
    }

    /// Lets values match that lead out of a folder.
    ///
    /// Without this, a URI does not match if a decoded value is `.` or `..`, contains a `/`, a `\` or
    /// a NUL, or begins like a Windows drive (`C:`). A `{+name}` or `{#name}` may contain `/`, but may
    /// not begin with one, and each of its segments must pass the same rules. The rules apply to
    /// every variable, including those of a query. Use this for templates whose values are never a path,
    /// or whose handler checks them.
    ///
    /// ```
    /// use turnbuckle_uri_template::Template;
    ///
    /// let files = Template::parse("file://{+path}")?;
    /// assert!(files.matches("file:///etc/passwd").is_none());
    /// assert!(files.allow_any_path().matches("file:///etc/passwd").is_some());
    /// # Ok::<(), turnbuckle_uri_template::TemplateError>(())
    /// ```
    #[must_use]
    pub fn allow_any_path(mut self) -> Self {
        self.paths = Paths::Any;
        self
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the template has no variables, so that it is a single URI.
    pub fn is_literal(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the variables, each once, in the order of their first occurrence.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Expands the template with these values, and returns the URI.
    ///
    /// Numbers and booleans are written as their JSON text. A variable that is missing, `null`, or
    /// an empty list or object expands to nothing. `{+name}` and `{#name}` copy a percent-encoded
    /// character of the value, such as `%41`, unchanged (RFC 6570, 3.2.3); matching the URI then gives `A`.
    ///
    /// # Errors
    /// If a list or object contains another, or is the value of a `{name:length}`.
    pub fn expand(&self, values: &Variables) -> Result<String, ExpandError> {
        expand(&self.parts, values)
    }

    /// Matches a URI, and returns the values of the variables. Returns `None` if the URI does not match, or if a
    /// value is not allowed. See the [crate documentation](crate) for the rules.
    ///
    /// A variable that is absent from the URI has no entry.
    pub fn matches(&self, uri: &str) -> Option<Variables> {
        matches(&self.pattern, uri, self.paths)
    }

    /// How specific the template is.
    pub fn specificity(&self) -> Specificity {
        self.specificity
    }

    /// Compares templates for the order in which to try them: the most specific first. The text decides
    /// between equals, so that sorting always gives the same order.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let specificity = other.specificity.cmp(&self.specificity);
        specificity.then_with(|| self.text.cmp(&other.text))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Template");
        debug
            .field("text", &self.text)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_once_and_in_order() {
        let template: Template = "{b}/{a,b:2}{?c*,a}".parse().expect("a template");
        assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "a", "c"]);
        assert!(!template.is_literal());
        assert_eq!(template.to_string(), "{b}/{a,b:2}{?c*,a}");
    }

    #[test]
    fn a_plain_uri_is_a_template_that_matches_itself() {
        let template = Template::parse("note://a/b").expect("a template");
        assert!(template.is_literal());
        assert_eq!(template.variables().count(), 0);
        assert_eq!(template.matches("note://a/b"), Some(Variables::new()));
        assert_eq!(template.matches("note://a/b/"), None);
        assert_eq!(template.matches("note://a/"), None);
    }
}
