//! Scopes: the permissions of a token.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A set of OAuth scopes, in the order in which they were first added. Its `Display` is the OAuth
/// form, separated by blanks. Collect it from an iterator of texts, or use [`parse`](Self::parse).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Parses scopes separated by blanks. Texts that are not a scope token (RFC 6749) are left out.
    ///
    /// ```
    /// use turnbuckle_auth::client::Scopes;
    ///
    /// let scopes = Scopes::parse("notes:read notes:write");
    /// assert!(scopes.contains("notes:read"));
    /// ```
    pub fn parse(text: &str) -> Self {
        text.split(' ').collect()
    }

    /// Whether there are no scopes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this scope is in the set. The comparison is case-sensitive.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|own| own == scope)
    }

    /// Whether all of these scopes are in the set. True for no scopes.
    pub fn contains_all(&self, others: &Self) -> bool {
        others.iter().all(|scope| self.contains(scope))
    }

    /// The scopes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The union of both sets.
    pub(crate) fn union(&self, others: &Self) -> Self {
        self.iter().chain(others.iter()).collect()
    }

    /// This set with one more scope.
    pub(crate) fn with(&self, scope: &str) -> Self {
        self.iter().chain([scope]).collect()
    }
}

impl<'a> FromIterator<&'a str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'a str>>(scopes: I) -> Self {
        let mut all = Self::default();
        for scope in scopes {
            if is_scope(scope) && !all.contains(scope) {
                all.0.push(scope.to_owned());
            }
        }
        all
    }
}

/// RFC 6749, 3.3: visible ASCII characters without quotes and backslashes.
fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_allowed)
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl From<String> for Scopes {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> Self {
        scopes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_a_set_in_order() {
        let some = Scopes::parse("b a  b");
        assert_eq!(some.to_string(), "b a");
        let more = some.union(&Scopes::parse("c a"));
        assert_eq!(more.to_string(), "b a c");
        assert!(more.contains_all(&some) && !some.contains_all(&more));
    }

    #[test]
    fn invalid_scope_tokens_are_left_out() {
        assert_eq!(Scopes::parse("a \"b\" \u{e4} c\\d e\n").to_string(), "a");
        assert!(Scopes::parse(" ").is_empty());
    }
}
