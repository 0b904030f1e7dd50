//! Parses the text of a template (RFC 6570, section 2).

use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::matching::MAX_URI_BYTES;
use super::unit::octet;

/// The longest template, in bytes: as long as the longest URI, since a plain URI is a template too.
pub const MAX_TEMPLATE_BYTES: usize = MAX_URI_BYTES;

/// The most variables in one template. Together with [`MAX_URI_BYTES`] this limits the memory of one
/// match to about a megabyte.
pub const MAX_VARIABLES: usize = 32;

/// The longest prefix that `{name:length}` may have, in characters (RFC 6570, 2.4.1).
const MAX_PREFIX: usize = 9999;

/// A text that is not a URI template, and the position of the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("URI template `{template}`, byte {position}: {problem}")]
pub struct TemplateError {
    /// The text that was given, or its first [`MAX_TEMPLATE_BYTES`] characters.
    pub template: String,
    /// The position of the problem in bytes, counted from 0.
    pub position: usize,
    /// The problem at this position.
    pub problem: TemplateProblem,
}

/// The problem with a URI template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateProblem {
    /// The template has more than [`MAX_TEMPLATE_BYTES`].
    #[error("the template is longer than {MAX_TEMPLATE_BYTES} bytes; shorten it")]
    TooLong,
    /// The template has more than [`MAX_VARIABLES`].
    #[error(
        "the template has more than {MAX_VARIABLES} variables; use fewer, or a list `{{name*}}`"
    )]
    TooManyVariables,
    /// A character outside the expressions that is not allowed in a URI.
    #[error("{found:?} is not allowed in a URI; percent-encode it")]
    Literal {
        /// The character.
        found: char,
    },
    /// A `%` is not followed by two hexadecimal digits.
    #[error(
        "`%` is not followed by two hexadecimal digits; write `%25` for a literal percent sign"
    )]
    Percent,
    /// A `{` has no `}` before the next `{` or the end.
    #[error("`{{` is never closed; add the `}}`")]
    Unclosed,
    /// A `}` has no `{`.
    #[error("`}}` has no matching `{{`; write `%7D` for a literal brace")]
    Unopened,
    /// A name is missing: `{}`, `{?}`, `{a,}`, `{*}`.
    #[error("a variable name is missing here")]
    NoName,
    /// An operator that RFC 6570 reserves: `=`, `,`, `!`, `@`, `|`.
    #[error("the operator `{operator}` has no meaning yet; use one of `+ # . / ; ? &`")]
    Operator {
        /// The operator.
        operator: char,
    },
    /// A character that is not allowed in a variable name.
    #[error(
        "{found:?} is not allowed in a variable name; \
         use letters, digits, `_`, and `.` between them"
    )]
    Name {
        /// The character.
        found: char,
    },
    /// The length after `:` is not a number from 1 to 9999.
    #[error("the length after `:` must be a number from 1 to {MAX_PREFIX}")]
    Prefix,
}

/// A problem with the byte position where it is.
type Misplaced = (usize, TemplateProblem);

/// Parses the parts of `template`, in order; no two literals follow each other.
pub(super) fn parse(template: &str) -> Result<Vec<Part>, TemplateError> {
    parts(template).map_err(|(position, problem)| TemplateError {
        template: template.chars().take(MAX_TEMPLATE_BYTES).collect(),
        position,
        problem,
    })
}

fn parts(template: &str) -> Result<Vec<Part>, Misplaced> {
    if template.len() > MAX_TEMPLATE_BYTES {
        return Err((MAX_TEMPLATE_BYTES, TemplateProblem::TooLong));
    }
    let mut parts = Vec::new();
    let mut variables = 0;
    let mut at = 0;
    while at < template.len() {
        let rest = &template[at..];
        if let Some(opened) = rest.strip_prefix('{') {
            let length = opened
                .find(['{', '}'])
                .filter(|end| opened[*end..].starts_with('}'));
            let length = length.ok_or((at, TemplateProblem::Unclosed))?;
            let expression = expression(&opened[..length], at + 1)?;
            variables += expression.variables.len();
            if variables > MAX_VARIABLES {
                return Err((at, TemplateProblem::TooManyVariables));
            }
            parts.push(Part::Expression(expression));
            at += length + 2;
        } else {
            let literal = &rest[..rest.find('{').unwrap_or(rest.len())];
            check_literal(literal, at)?;
            parts.push(Part::Literal(literal.to_owned()));
            at += literal.len();
        }
    }
    Ok(parts)
}

fn check_literal(literal: &str, at: usize) -> Result<(), Misplaced> {
    for (offset, found) in literal.char_indices() {
        let problem = match found {
            '}' => TemplateProblem::Unopened,
            '%' if octet(&literal.as_bytes()[offset..]).is_none() => TemplateProblem::Percent,
            // The apostrophe is allowed: erratum 6937 of RFC 6570.
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => TemplateProblem::Literal { found },
            control if control.is_control() => TemplateProblem::Literal { found },
            _ => continue,
        };
        return Err((at + offset, problem));
    }
    Ok(())
}

/// Parses the text between the braces; `at` is its position.
fn expression(body: &str, mut at: usize) -> Result<Expression, Misplaced> {
    let (operator, names) = match body.chars().next() {
        Some('+') => (Operator::Reserved, &body[1..]),
        Some('#') => (Operator::Fragment, &body[1..]),
        Some('.') => (Operator::Label, &body[1..]),
        Some('/') => (Operator::Path, &body[1..]),
        Some(';') => (Operator::Parameter, &body[1..]),
        Some('?') => (Operator::Query, &body[1..]),
        Some('&') => (Operator::Continuation, &body[1..]),
        Some(operator @ ('=' | ',' | '!' | '@' | '|')) => {
            return Err((at, TemplateProblem::Operator { operator }));
        }
        _ => (Operator::Simple, body),
    };
    at += body.len() - names.len();
    let mut variables = Vec::new();
    for specification in names.split(',') {
        variables.push(variable(specification, at)?);
        at += specification.len() + 1;
    }
    Ok(Expression {
        operator,
        variables,
    })
}

fn variable(specification: &str, at: usize) -> Result<Variable, Misplaced> {
    let (name, modifier) = if let Some(name) = specification.strip_suffix('*') {
        (name, Modifier::Explode)
    } else if let Some((name, length)) = specification.split_once(':') {
        let length = prefix(length).ok_or((at + name.len() + 1, TemplateProblem::Prefix))?;
        (name, Modifier::Prefix(length))
    } else {
        (specification, Modifier::Whole)
    };
    check_name(name, at)?;
    Ok(Variable {
        name: name.to_owned(),
        modifier,
    })
}

fn prefix(length: &str) -> Option<usize> {
    // The grammar allows neither a sign nor a leading zero, though `parse` would accept both.
    let is_number = length.starts_with(|first: char| matches!(first, '1'..='9'));
    length
        .parse()
        .ok()
        .filter(|length| is_number && *length <= MAX_PREFIX)
}

fn check_name(name: &str, at: usize) -> Result<(), Misplaced> {
    if name.is_empty() {
        return Err((at, TemplateProblem::NoName));
    }
    let mut follows_character = false;
    for (offset, found) in name.char_indices() {
        let problem = match found {
            '%' if octet(&name.as_bytes()[offset..]).is_none() => TemplateProblem::Percent,
            '.' if !follows_character || name.len() == offset + 1 => {
                TemplateProblem::Name { found }
            }
            '.' | '_' | '%' => {
                follows_character = found != '.';
                continue;
            }
            letter if letter.is_ascii_alphanumeric() => {
                follows_character = true;
                continue;
            }
            _ => TemplateProblem::Name { found },
        };
        return Err((at + offset, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(template: &str) -> (usize, TemplateProblem) {
        let error = parse(template).expect_err(template);
        assert_eq!(error.template, template);
        (error.position, error.problem)
    }

    #[test]
    fn every_form_of_expression_parses() {
        let forms = [
            "",
            "a",
            "{a}",
            "{+a}",
            "{#a}",
            "{.a}",
            "{/a}",
            "{;a}",
            "{?a,b}",
            "{&a}",
            "{a*}",
            "{a:3}",
            "{a:9999}",
            "{/a:1,b*,c}",
            "{a.b_c.1}",
            "{%41b}",
            "x{a}y{b}z",
            "é'{a}",
            "%20{a}",
        ];
        for form in forms {
            assert!(parse(form).is_ok(), "{form}");
        }
    }

    #[test]
    fn an_error_names_the_place_and_the_problem() {
        use TemplateProblem as Problem;
        let table = [
            ("a{b", 1, Problem::Unclosed),
            ("a{b{c}", 1, Problem::Unclosed),
            ("{", 0, Problem::Unclosed),
            ("a}b", 1, Problem::Unopened),
            ("{a}}", 3, Problem::Unopened),
            ("{}", 1, Problem::NoName),
            ("{?}", 2, Problem::NoName),
            ("{a,}", 3, Problem::NoName),
            ("{a,,b}", 3, Problem::NoName),
            ("{*}", 1, Problem::NoName),
            ("{:3}", 1, Problem::NoName),
            ("x{=a}", 2, Problem::Operator { operator: '=' }),
            ("{,a}", 1, Problem::Operator { operator: ',' }),
            ("{!a}", 1, Problem::Operator { operator: '!' }),
            ("{@a}", 1, Problem::Operator { operator: '@' }),
            ("{|a}", 1, Problem::Operator { operator: '|' }),
            ("{a-b}", 2, Problem::Name { found: '-' }),
            ("{a, b}", 3, Problem::Name { found: ' ' }),
            ("{a..b}", 3, Problem::Name { found: '.' }),
            ("{a.}", 2, Problem::Name { found: '.' }),
            ("{..a}", 2, Problem::Name { found: '.' }),
            ("{é}", 1, Problem::Name { found: 'é' }),
            ("{a**}", 2, Problem::Name { found: '*' }),
            ("{a:3*}", 2, Problem::Name { found: ':' }),
            ("{%4}", 1, Problem::Percent),
            ("{a:0}", 3, Problem::Prefix),
            ("{a:}", 3, Problem::Prefix),
            ("{a:+1}", 3, Problem::Prefix),
            ("{a:01}", 3, Problem::Prefix),
            ("{a:10000}", 3, Problem::Prefix),
            ("{a:99999999999999999999}", 3, Problem::Prefix),
            ("a%2", 1, Problem::Percent),
            ("é%zz", 2, Problem::Percent),
            ("a b", 1, Problem::Literal { found: ' ' }),
            ("a\\b", 1, Problem::Literal { found: '\\' }),
            ("a\n", 1, Problem::Literal { found: '\n' }),
        ];
        for (template, position, expected) in table {
            assert_eq!(problem(template), (position, expected), "{template}");
        }
    }

    #[test]
    fn the_message_can_be_acted_on() {
        let message = parse("seat://{flight-number}")
            .expect_err("`-`")
            .to_string();
        assert_eq!(
            message,
            "URI template `seat://{flight-number}`, byte 14: '-' is not allowed in a variable \
             name; use letters, digits, `_`, and `.` between them"
        );
    }

    #[test]
    fn length_and_variables_are_bounded() {
        assert!(parse(&"a".repeat(MAX_TEMPLATE_BYTES)).is_ok());
        let error = parse(&"a".repeat(MAX_TEMPLATE_BYTES + 1)).expect_err("too long");
        assert_eq!(error.problem, TemplateProblem::TooLong);
        assert!(parse(&"{a}".repeat(MAX_VARIABLES)).is_ok());
        assert_eq!(
            problem(&"{a}".repeat(MAX_VARIABLES + 1)),
            (3 * MAX_VARIABLES, TemplateProblem::TooManyVariables)
        );
    }
}
