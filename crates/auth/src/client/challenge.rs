//! `WWW-Authenticate`: what a server requires of clients.

use std::iter::Peekable;
use std::str::Chars;

use super::Scopes;

/// The content of a refusal's `WWW-Authenticate` headers, as far as it concerns OAuth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The URL of the resource's metadata.
    pub(crate) resource_metadata: Option<String>,
    /// The scopes that this request needs.
    pub(crate) scope: Option<Scopes>,
    /// The error code: `invalid_token`, `insufficient_scope` or `use_dpop_nonce`.
    pub(crate) error: Option<String>,
    /// Whether tokens that are bound to a key (DPoP) are accepted.
    pub(crate) takes_dpop: bool,
    /// Whether plain bearer tokens are accepted.
    pub(crate) takes_bearer: bool,
}

impl Wanted {
    /// Parses the headers. Parts that cannot be parsed are left out, because the response is a
    /// refusal in any case.
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

    /// Adds parameters. If several challenges give the same one, the first is used.
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

/// One challenge (RFC 9110, 11.6.1).
#[derive(Debug, PartialEq, Eq)]
struct ParsedChallenge {
    scheme: String,
    params: Vec<(String, String)>,
}

/// Splits a header into challenges. Commas separate challenges as well as their parameters: a word
/// that is followed by `=` is a parameter, and any other word begins a challenge.
fn challenges(header: &str) -> Vec<ParsedChallenge> {
    let mut all: Vec<ParsedChallenge> = Vec::new();
    let mut rest = header.chars().peekable();
    loop {
        skip(&mut rest, |c| c == ',' || c.is_ascii_whitespace());
        let word = take(&mut rest, is_token);
        if word.is_empty() {
            // Skip characters that are not allowed here, so that the loop reaches the end.
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

/// Skips the `token68` text that some schemes have instead of parameters, such as Negotiate.
fn skip_token68(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    skip(&mut ahead, |c| c == ' ');
    let text = take(&mut ahead, |c| is_token(c) || c == '/' || c == '+');
    skip(&mut ahead, |c| c == '=');
    skip(&mut ahead, |c| c == ' ');
    if !text.is_empty() && matches!(ahead.peek(), None | Some(',')) {
        // In `Basic, Bearer` there is no such text: the next scheme follows the comma.
        *rest = ahead;
    }
}

fn value(rest: &mut Peekable<Chars<'_>>) -> String {
    if rest.next_if_eq(&'"').is_none() {
        // Strictly, this must be a token, but some servers send URLs without quotes.
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
