//! URI templates (RFC 6570), parsed at compile time.

/// The variables of a URI template, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    variables: Vec<String>,
}

impl Template {
    /// Parses a template. The error says what is wrong and what to write.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        check_scheme(text)?;
        let mut variables = Vec::new();
        let mut rest = text;
        while let Some((literal, opened)) = rest.split_once('{') {
            check_literal(literal)?;
            let unclosed = || format!("`{{{}` has no closing `}}`: add it", up_to_brace(opened));
            let (inside, after) = opened.split_once('}').ok_or_else(unclosed)?;
            if inside.contains('{') {
                return Err(unclosed());
            }
            read_expression(inside, &mut variables)?;
            rest = after;
        }
        check_literal(rest)?;
        Ok(Self { variables })
    }

    /// Whether it is a plain URI, without variables.
    pub(crate) fn is_fixed(&self) -> bool {
        self.variables.is_empty()
    }

    /// Whether there is a variable of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable == name)
    }

    /// The variables that have none of these names.
    pub(crate) fn without<'a>(&'a self, names: &[&str]) -> Vec<&'a str> {
        let variables = self.variables.iter().map(String::as_str);
        variables
            .filter(|variable| !names.contains(variable))
            .collect()
    }
}

/// A URI begins with a scheme; only a leading expression may supply one later.
fn check_scheme(text: &str) -> Result<(), String> {
    if text.starts_with('{') {
        return Ok(());
    }
    let scheme = text.split(':').next().unwrap_or_default();
    let is_scheme = scheme.len() < text.len()
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    if is_scheme {
        return Ok(());
    }
    Err(format!(
        "`{text}` has no scheme: begin with one, such as `file:///` or `seat://`"
    ))
}

/// Checks that the text outside the braces is allowed in a URI.
fn check_literal(text: &str) -> Result<(), String> {
    for (at, letter) in text.char_indices() {
        let digits = text.as_bytes().get(at + 1..at + 3);
        let is_encoded = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        match letter {
            '}' => {
                return Err("a `}` has no matching `{`: add the `{` or remove the `}`".to_owned());
            }
            '%' if !is_encoded => {
                return Err(
                    "a `%` is not followed by two hexadecimal digits: write `%25` for a literal \
                     percent sign"
                        .to_owned(),
                );
            }
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '\0'..='\x1f' | '\x7f' => {
                return Err(format!(
                    "{letter:?} is not allowed in a URI; percent-encode it"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses the text between two braces: an operator, then variables with their modifiers.
fn read_expression(text: &str, variables: &mut Vec<String>) -> Result<(), String> {
    let list = text
        .strip_prefix(['+', '#', '.', '/', ';', '?', '&'])
        .unwrap_or(text);
    if list.is_empty() {
        return Err(format!(
            "`{{{text}}}` has no variable: write one, such as `{{id}}`"
        ));
    }
    for specification in list.split(',') {
        let name = variable(specification).ok_or_else(|| {
            format!(
                "`{specification}` in `{{{text}}}` is not a variable; use letters, digits and `_`"
            )
        })?;
        if !variables.iter().any(|known| known == name) {
            variables.push(name.to_owned());
        }
    }
    Ok(())
}

/// The name in `name`, `name*` or `name:3`.
fn variable(specification: &str) -> Option<&str> {
    let name = match specification.split_once(':') {
        // RFC 6570, 2.4.1: a prefix length is 1 to 9999.
        Some((name, length)) => {
            let is_length = matches!(length.len(), 1..=4)
                && !length.starts_with('0')
                && length.bytes().all(|digit| digit.is_ascii_digit());
            is_length.then_some(name)?
        }
        None => specification.strip_suffix('*').unwrap_or(specification),
    };
    let is_name = !name.is_empty()
        && name.split('.').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
    is_name.then_some(name)
}

fn up_to_brace(text: &str) -> &str {
    text.split(['{', '}']).next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &str) -> Vec<String> {
        Template::parse(text).expect(text).variables
    }

    fn complaint(text: &str) -> String {
        Template::parse(text).expect_err(text)
    }

    #[test]
    fn variables_are_found_in_order() {
        assert_eq!(variables("seat://{flight}/{row}"), ["flight", "row"]);
        assert_eq!(
            variables("file:///{+path}{?page,per_page*}{#part:3}"),
            ["path", "page", "per_page", "part"]
        );
        assert_eq!(variables("{+uri}"), ["uri"]);
        assert!(Template::parse("config://app").unwrap().is_fixed());
    }

    #[test]
    fn braces_must_pair() {
        assert!(complaint("seat://{flight").contains("`{flight` has no closing `}`"));
        assert!(complaint("seat://{flight/{row}").contains("`{flight/` has no closing `}`"));
        assert!(complaint("seat://flight}").contains("has no matching"));
        assert!(complaint("seat://{}").contains("has no variable"));
        assert!(complaint("seat://{?}").contains("has no variable"));
    }

    #[test]
    fn names_and_modifiers_are_checked() {
        assert!(complaint("seat://{a b}").contains("`a b` in `{a b}` is not a variable"));
        assert!(complaint("seat://{a,}").contains("`` in `{a,}`"));
        assert!(complaint("seat://{a:0}").contains("is not a variable"));
        assert!(complaint("seat://{a:12345}").contains("is not a variable"));
        assert!(complaint("seat://{größe}").contains("is not a variable"));
        assert_eq!(variables("seat://{a}/{a:3}"), ["a"]);
    }

    #[test]
    fn characters_not_allowed_in_a_uri_are_refused() {
        assert!(complaint("seat://a b/{c}").contains("' ' is not allowed in a URI"));
        assert!(complaint("seat://{c}/50%").contains("write `%25`"));
        assert!(complaint("seat://{c}/%é0").contains("write `%25`"));
        assert_eq!(variables("seat://50%25/{c}"), ["c"]);
        assert!(complaint("seat://\u{7}").contains("percent-encode"));
    }

    #[test]
    fn a_scheme_is_required() {
        assert!(complaint("seats/{row}").contains("has no scheme"));
        assert!(complaint("").contains("has no scheme"));
        assert!(complaint("1seat://x").contains("has no scheme"));
        assert!(variables("urn:isbn:1").is_empty());
    }
}
