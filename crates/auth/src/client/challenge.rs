//! `WWW-Authenticate`: what a server says is wanted.

use std::iter::Peekable;
use std::str::Chars;

use super::Scopes;

/// What the `WWW-Authenticate` headers of a refusal say, as far as it concerns OAuth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Where the metadata of the resource is.
    pub(crate) resource_metadata: Option<String>,
    /// The scopes that this request needs.
    pub(crate) scope: Option<Scopes>,
    /// The kind of refusal: `invalid_token`, `insufficient_scope`, `use_dpop_nonce`.
    pub(crate) error: Option<String>,
    /// Whether tokens that are bound to a key are taken.
    pub(crate) takes_dpop: bool,
    /// Whether plain bearer tokens are taken.
    pub(crate) takes_bearer: bool,
}

impl Wanted {
    /// Reads the headers. What cannot be read is left out: a refusal is one all the same.
    pub(crate) fn parse<'a>(headers: impl IntoIterator<Item = &'a str>) -> Self {
        let mut wanted = Self::default();
        for challenge in headers.into_iter().flat_map(challenges) {
            let is_bearer = challenge.scheme.eq_ignore_ascii_case("bearer");
            let is_dpop = challenge.scheme.eq_ignore_ascii_case("dpop");
            wanted.takes_bearer |= is_bearer;
            wanted.takes_dpop |= is_dpop;
            if is_bearer || is_dpop {
                wanted.add(challenge.params);
            }
        }
        wanted
    }

    /// The first that says something is believed.
    fn add(&mut self, params: Vec<(String, String)>) {
        for (name, value) in params {
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => {
                    self.resource_metadata.get_or_insert(value);
                }
                "scope" => {
                    self.scope.get_or_insert_with(|| Scopes::parse(&value));
                }
                "error" => {
                    self.error.get_or_insert(value);
                }
                _ => {}
            }
        }
    }
}

/// One challenge of RFC 9110, 11.6.1.
#[derive(Debug, PartialEq, Eq)]
struct ParsedChallenge {
    scheme: String,
    params: Vec<(String, String)>,
}

/// Cuts a header into challenges. Commas part challenges as well as their parameters: a word that
/// is followed by `=` is a parameter, any other begins a challenge.
fn challenges(header: &str) -> Vec<ParsedChallenge> {
    let mut all: Vec<ParsedChallenge> = Vec::new();
    let mut rest = header.chars().peekable();
    loop {
        skip(&mut rest, |c| c == ',' || c.is_ascii_whitespace());
        let word = take(&mut rest, is_token);
        if word.is_empty() {
            // Characters that are not allowed here are skipped, so that the end is reached.
            if rest.next().is_none() {
                return all;
            }
            continue;
        }
        let mut ahead = rest.clone();
        skip(&mut ahead, |c| c.is_ascii_whitespace());
        let Some(last) = all.last_mut().filter(|_| ahead.peek() == Some(&'=')) else {
            skip_token68(&mut rest);
            let (scheme, params) = (word, Vec::new());
            all.push(ParsedChallenge { scheme, params });
            continue;
        };
        rest = ahead;
        rest.next();
        skip(&mut rest, |c| c.is_ascii_whitespace());
        last.params.push((word, value(&mut rest)));
    }
}

/// Passes over credentials-like text after a scheme, such as Negotiate sends.
fn skip_token68(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    skip(&mut ahead, |c| c == ' ');
    let text = take(&mut ahead, |c| is_token(c) || c == '/' || c == '+');
    skip(&mut ahead, |c| c == '=');
    skip(&mut ahead, |c| c == ' ');
    if !text.is_empty() && matches!(ahead.peek(), None | Some(',')) {
        // `Basic, Bearer` has no such text: what follows a comma is the next scheme.
        *rest = ahead;
    }
}

fn value(rest: &mut Peekable<Chars<'_>>) -> String {
    if rest.next_if_eq(&'"').is_none() {
        // Strictly a token; URLs without quotes are seen in the wild.
        return take(rest, |c| c != ',' && !c.is_ascii_whitespace());
    }
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => text.extend(rest.next()),
            c => text.push(c),
        }
    }
    text
}

fn take(rest: &mut Peekable<Chars<'_>>, is_part: impl Fn(char) -> bool) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next_if(|c| is_part(*c)) {
        text.push(c);
    }
    text
}

fn skip(rest: &mut Peekable<Chars<'_>>, is_part: impl Fn(char) -> bool) {
    while rest.next_if(|c| is_part(*c)).is_some() {}
}

/// RFC 9110, 5.6.2.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_where_and_what() {
        let header = r#"Bearer realm="a, b", resource_metadata="https://h/x?a=b,c" , scope="a b",error=insufficient_scope"#;
        let wanted = Wanted::parse([header]);
        assert_eq!(wanted.resource_metadata.unwrap(), "https://h/x?a=b,c");
        assert_eq!(wanted.scope.unwrap().to_string(), "a b");
        assert_eq!(wanted.error.unwrap(), "insufficient_scope");
        assert!(wanted.takes_bearer && !wanted.takes_dpop);
    }

    #[test]
    fn other_schemes_do_not_confuse() {
        for header in [
            r#"Negotiate YII+/a==, Basic realm="x", Bearer scope=a"#,
            r#"Basic, Bearer scope="a""#,
            r#"Basic scope="no", bearer   scope="\a" , DPoP algs="ES256""#,
            r#"Negotiate,, ,Bearer scope = "a""#,
        ] {
            let wanted = Wanted::parse([header]);
            assert_eq!(wanted.scope, Some(Scopes::parse("a")), "{header}");
        }
    }

    #[test]
    fn several_headers_are_one_list_and_the_first_word_counts() {
        let wanted = Wanted::parse([
            r#"DPoP algs="ES256", error="use_dpop_nonce""#,
            "Bearer error=x",
        ]);
        assert!(wanted.takes_dpop && wanted.takes_bearer);
        assert_eq!(wanted.error.unwrap(), "use_dpop_nonce");
    }

    #[test]
    fn nonsense_ends() {
        for header in [
            "",
            "=",
            "\"",
            "Bearer \"",
            "Bearer a=\"",
            "Bearer a=",
            ",,,=,\\",
            "\u{e4}",
        ] {
            let wanted = Wanted::parse([header]);
            assert_eq!(wanted.resource_metadata, None, "{header}");
        }
    }
}
