//! Expands a template with the values of its variables to a URI (RFC 6570, section 3).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::encode::{Allow, encoded};
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::unit::Units;

/// Values that cannot be used to expand a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// A list or an object contains a list or an object.
    #[error("variable `{variable}` holds a nested list or object; make its members strings")]
    Nested {
        /// The variable.
        variable: String,
    },
    /// `{name:3}` has a value that is a list or an object.
    #[error("variable `{variable}` is cut to a prefix; give it text, not a list or an object")]
    Prefix {
        /// The variable.
        variable: String,
    },
}

/// One item between two separators, encoded: `value` or `name=value`.
struct Item {
    name: Option<String>,
    value: String,
}

/// Expands `parts` with `values`.
pub(super) fn expand(parts: &[Part], values: &Map<String, Value>) -> Result<String, ExpandError> {
    let mut uri = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => uri.push_str(&encoded(text, Allow::Reserved)),
            Part::Expression(expression) => push_expression(&mut uri, expression, values)?,
        }
    }
    Ok(uri)
}

fn push_expression(
    uri: &mut String,
    expression: &Expression,
    values: &Map<String, Value>,
) -> Result<(), ExpandError> {
    let operator = expression.operator;
    let mut lead = operator.lead();
    for variable in &expression.variables {
        let Some(value) = values.get(&variable.name) else {
            continue;
        };
        for item in items(operator, variable, value)? {
            uri.extend(lead);
            push_item(uri, operator, &item);
            lead = Some(operator.separator());
        }
    }
    Ok(())
}

fn push_item(uri: &mut String, operator: Operator, item: &Item) {
    if let Some(name) = &item.name {
        uri.push_str(name);
        // Only path parameters drop the `=` of an empty value: `;empty`, but `?empty=`.
        if operator != Operator::Parameter || !item.value.is_empty() {
            uri.push('=');
        }
    }
    uri.push_str(&item.value);
}

/// The items of one variable: none if it has no value, and one if it is not exploded.
fn items(operator: Operator, variable: &Variable, value: &Value) -> Result<Vec<Item>, ExpandError> {
    let name = operator.is_named().then(|| variable.name.clone());
    let members = members(operator, variable, value)?;
    if variable.modifier == Modifier::Explode {
        let named = |member: Item| Item {
            name: member.name.or_else(|| name.clone()),
            ..member
        };
        return Ok(members.into_iter().map(named).collect());
    }
    let joined = members
        .into_iter()
        .flat_map(|member| member.name.into_iter().chain([member.value]))
        .reduce(|joined, member| joined + "," + &member);
    Ok(joined
        .map(|value| Item { name, value })
        .into_iter()
        .collect())
}

/// The defined members of a value. Members of an object have names. A text is its own only member.
fn members(
    operator: Operator,
    variable: &Variable,
    value: &Value,
) -> Result<Vec<Item>, ExpandError> {
    let allow = operator.allow();
    let mut members = Vec::new();
    let mut push = |name: Option<&String>, member| -> Result<(), ExpandError> {
        if let Some(text) = text(variable, member)? {
            members.push(Item {
                name: name.map(|name| encoded(name, allow)),
                value: encoded(cut(&text, variable.modifier, allow), allow),
            });
        }
        Ok(())
    };
    match value {
        Value::Array(_) | Value::Object(_) if matches!(variable.modifier, Modifier::Prefix(_)) => {
            let variable = variable.name.clone();
            return Err(ExpandError::Prefix { variable });
        }
        Value::Array(list) => list.iter().try_for_each(|member| push(None, member))?,
        Value::Object(object) => {
            object
                .iter()
                .try_for_each(|(name, member)| push(Some(name), member))?;
        }
        text => push(None, text)?,
    }
    Ok(members)
}

/// The text of a value that is neither a list nor an object; `None` for `null`.
fn text<'a>(variable: &Variable, value: &'a Value) -> Result<Option<Cow<'a, str>>, ExpandError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(Cow::Borrowed(text))),
        Value::Bool(_) | Value::Number(_) => Ok(Some(Cow::Owned(value.to_string()))),
        Value::Array(_) | Value::Object(_) => Err(ExpandError::Nested {
            variable: variable.name.clone(),
        }),
    }
}

/// The characters of `text` that the modifier allows.
fn cut(text: &str, modifier: Modifier, allow: Allow) -> &str {
    let Modifier::Prefix(length) = modifier else {
        return text;
    };
    let rest = match allow {
        Allow::Unreserved => {
            let mut characters = text.chars();
            characters.by_ref().take(length).for_each(drop);
            characters.as_str()
        }
        // Appendix A: a percent-encoded character, which is kept unchanged here, is not split.
        Allow::Reserved => {
            let mut units = Units::new(text);
            units.by_ref().take(length).for_each(drop);
            units.rest()
        }
    };
    &text[..text.len() - rest.len()]
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use serde_json::json;

    fn expanded(template: &str, values: &Value) -> Result<String, ExpandError> {
        let parts = parse(template).expect(template);
        expand(&parts, values.as_object().expect("values are an object"))
    }

    fn check(table: &[(&str, &str)], values: &Value) {
        for (template, expected) in table {
            assert_eq!(
                expanded(template, values).as_deref(),
                Ok(*expected),
                "{template}"
            );
        }
    }

    /// The variables of RFC 6570, section 3.2, which its examples share.
    fn rfc_values() -> Value {
        json!({
            "count": ["one", "two", "three"],
            "dom": ["example", "com"],
            "dub": "me/too",
            "hello": "Hello World!",
            "half": "50%",
            "var": "value",
            "who": "fred",
            "base": "http://example.com/home/",
            "path": "/foo/bar",
            "list": ["red", "green", "blue"],
            "keys": {"semi": ";", "dot": ".", "comma": ","},
            "v": "6",
            "x": "1024",
            "y": "768",
            "empty": "",
            "empty_keys": {},
            "undef": null,
        })
    }

    #[test]
    fn literals_and_simple_strings_expand() {
        let table = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}", "50%25"),
            ("O{empty}X", "OX"),
            ("O{undef}X", "OX"),
            ("O{missing}X", "OX"),
            ("{x,y}", "1024,768"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("?{x,undef}", "?1024"),
            ("?{undef,y}", "?768"),
            ("{var:3}", "val"),
            ("{var:30}", "value"),
            ("{list}", "red,green,blue"),
            ("{list*}", "red,green,blue"),
            ("{keys}", "semi,%3B,dot,.,comma,%2C"),
            ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
            ("{count}", "one,two,three"),
            ("{count*}", "one,two,three"),
            ("é%20{var}", "%C3%A9%20value"),
            ("{empty_keys}{empty_keys*}", ""),
        ];
        check(&table, &rfc_values());
    }

    #[test]
    fn reserved_and_fragment_expressions_expand() {
        let table = [
            ("{+var}", "value"),
            ("{+hello}", "Hello%20World!"),
            ("{+half}", "50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"),
            ("O{+empty}X", "OX"),
            ("O{+undef}X", "OX"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"),
            ("up{+path}{var}/here", "up/foo/barvalue/here"),
            ("{+x,hello,y}", "1024,Hello%20World!,768"),
            ("{+path,x}/here", "/foo/bar,1024/here"),
            ("{+path:6}/here", "/foo/b/here"),
            ("{+list}", "red,green,blue"),
            ("{+list*}", "red,green,blue"),
            ("{+keys}", "semi,;,dot,.,comma,,"),
            ("{+keys*}", "semi=;,dot=.,comma=,"),
            ("{#var}", "#value"),
            ("{#hello}", "#Hello%20World!"),
            ("{#half}", "#50%25"),
            ("foo{#empty}", "foo#"),
            ("foo{#undef}", "foo"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            ("{#path:6}/here", "#/foo/b/here"),
            ("{#list}", "#red,green,blue"),
            ("{#list*}", "#red,green,blue"),
            ("{#keys}", "#semi,;,dot,.,comma,,"),
            ("{#keys*}", "#semi=;,dot=.,comma=,"),
        ];
        check(&table, &rfc_values());
    }

    #[test]
    fn label_and_path_expressions_expand() {
        let table = [
            ("{.who}", ".fred"),
            ("{.who,who}", ".fred.fred"),
            ("{.half,who}", ".50%25.fred"),
            ("www{.dom*}", "www.example.com"),
            ("X{.var}", "X.value"),
            ("X{.empty}", "X."),
            ("X{.undef}", "X"),
            ("X{.var:3}", "X.val"),
            ("X{.list}", "X.red,green,blue"),
            ("X{.list*}", "X.red.green.blue"),
            ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
            ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
            ("X{.empty_keys}", "X"),
            ("X{.empty_keys*}", "X"),
            ("{/who}", "/fred"),
            ("{/who,who}", "/fred/fred"),
            ("{/half,who}", "/50%25/fred"),
            ("{/who,dub}", "/fred/me%2Ftoo"),
            ("{/var}", "/value"),
            ("{/var,empty}", "/value/"),
            ("{/var,undef}", "/value"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{/var:1,var}", "/v/value"),
            ("{/list}", "/red,green,blue"),
            ("{/list*}", "/red/green/blue"),
            ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
            ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
            ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ];
        check(&table, &rfc_values());
    }

    #[test]
    fn named_expressions_expand() {
        let table = [
            ("{;who}", ";who=fred"),
            ("{;half}", ";half=50%25"),
            ("{;empty}", ";empty"),
            ("{;v,empty,who}", ";v=6;empty;who=fred"),
            ("{;v,bar,who}", ";v=6;who=fred"),
            ("{;x,y}", ";x=1024;y=768"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{;x,y,undef}", ";x=1024;y=768"),
            ("{;hello:5}", ";hello=Hello"),
            ("{;list}", ";list=red,green,blue"),
            ("{;list*}", ";list=red;list=green;list=blue"),
            ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
            ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
            ("{?who}", "?who=fred"),
            ("{?half}", "?half=50%25"),
            ("{?x,y}", "?x=1024&y=768"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?x,y,undef}", "?x=1024&y=768"),
            ("{?var:3}", "?var=val"),
            ("{?list}", "?list=red,green,blue"),
            ("{?list*}", "?list=red&list=green&list=blue"),
            ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
            ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
            ("{&who}", "&who=fred"),
            ("{&half}", "&half=50%25"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{&x,y,empty}", "&x=1024&y=768&empty="),
            ("{&x,y,undef}", "&x=1024&y=768"),
            ("{&var:3}", "&var=val"),
            ("{&list}", "&list=red,green,blue"),
            ("{&list*}", "&list=red&list=green&list=blue"),
            ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
            ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
        ];
        check(&table, &rfc_values());
    }

    #[test]
    fn numbers_booleans_and_nulls_have_their_json_text() {
        let values = json!({"n": 7, "b": true, "l": [1, null, "x"], "o": {"a": null, "b": 2}});
        check(
            &[
                ("{n}/{b}/{l}/{o*}", "7/true/1,x/b=2"),
                ("{?l*}", "?l=1&l=x"),
            ],
            &values,
        );
    }

    #[test]
    fn a_key_cannot_smuggle_in_a_delimiter() {
        check(&[("{?o*}", "?a%26b%3D=1")], &json!({"o": {"a&b=": "1"}}));
    }

    #[test]
    fn a_prefix_counts_characters_and_splits_none() {
        let values = json!({"text": "éàü", "encoded": "%C3%A9a/b"});
        let table = [
            ("{text:2}", "%C3%A9%C3%A0"),
            ("{+encoded:2}", "%C3%A9a"),
            ("{encoded:2}", "%25C"),
        ];
        check(&table, &values);
    }

    #[test]
    fn values_without_an_expansion_are_refused() {
        let values = json!({"list": [[1]], "keys": {"a": {}}});
        let variable = |name: &str| name.to_owned();
        let prefix = expanded("{list:1}", &values).expect_err("prefix of a list");
        assert_eq!(
            prefix,
            ExpandError::Prefix {
                variable: variable("list")
            }
        );
        let nested = expanded("{list}", &values).expect_err("a list in a list");
        assert_eq!(
            nested,
            ExpandError::Nested {
                variable: variable("list")
            }
        );
        let nested = expanded("{?keys*}", &values).expect_err("an object in an object");
        assert_eq!(
            nested,
            ExpandError::Nested {
                variable: variable("keys")
            }
        );
    }
}
