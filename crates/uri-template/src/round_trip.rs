//! Properties that hold for all values: `matches` reads the values that `expand` has written.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::Template;
use super::unit::Units;

/// Templates in which each variable occurs once, so that there is only one way to match.
const TEMPLATES: &[&str] = &[
    "seat://{a}/{b}",
    "x:{a},{b}",
    "x:{a}/é~{b}",
    "x:{a}{/b}",
    "x:{a}{?b}",
    "x:k{/a,b}",
    "x:k{?a}{&b}",
    "x:k{?b,a}",
    "x:k{;a,b}",
    "x:{a}{;b}/k",
    "x:{a}{#b}",
    "x:{a,b}",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::string::string_regex("[a-z0-9 .é%&=?#,;:/+\\\\🦀{}-]{1,12}")
            .expect("the expression is valid"),
        proptest::collection::vec(any::<char>(), 1..8).prop_map(|text| text.into_iter().collect()),
    ]
}

fn values(a: &str, b: &str) -> Map<String, Value> {
    Map::from_iter([
        ("a".to_owned(), Value::from(a)),
        ("b".to_owned(), Value::from(b)),
    ])
}

proptest! {
    #[test]
    fn what_is_expanded_is_matched(a in text(), b in text()) {
        for text in TEMPLATES {
            let template = Template::parse(text).expect(text).allow_any_path();
            // A fragment keeps percent-encoded triplets, so only values without `%` are read back unchanged.
            let b = if text.contains('#') { b.replace('%', "_") } else { b.clone() };
            let values = values(&a, &b);
            let uri = template.expand(&values).expect("texts expand");
            prop_assert_eq!(template.matches(&uri), Some(values), "{} {}", text, uri);
        }
    }

    #[test]
    fn lists_come_back_as_lists(list in proptest::collection::vec(text(), 1..5)) {
        for text in ["x:{a*}", "x:k{/a*}", "x:k{?a*}", "x:k{;a*}/k", "x:k{?b,a*}{#c}"] {
            let template = Template::parse(text).expect(text).allow_any_path();
            let values = Map::from_iter([("a".to_owned(), json!(list))]);
            let uri = template.expand(&values).expect("lists of texts expand");
            prop_assert_eq!(template.matches(&uri), Some(values), "{} {}", text, uri);
        }
    }

    #[test]
    fn objects_come_back_as_objects(keys in proptest::collection::hash_set(text(), 1..5)) {
        let template = Template::parse("x:k{?filter*}").expect("a template").allow_any_path();
        let object: Map<_, _> = keys.into_iter().map(|key| (key.clone(), json!(key))).collect();
        prop_assume!(!object.contains_key("filter"));
        let values = Map::from_iter([("filter".to_owned(), Value::Object(object))]);
        let uri = template.expand(&values).expect("objects of texts expand");
        prop_assert_eq!(template.matches(&uri), Some(values));
    }

    #[test]
    fn what_is_matched_expands_to_the_same_uri(uri in "x:[ab.,/%2FE?=&#-]{0,16}") {
        for text in ["x:{a}{.b}", "x:{a}/{b}", "x:{a,b}{/c*}", "x:{a*}{/b,c}", "x:{a:2}{b}{?c}"] {
            let template = Template::parse(text).expect(text).allow_any_path();
            let Some(values) = template.matches(&uri) else { continue };
            let again = template.expand(&values).expect("matched values expand");
            let same = Units::new(&again).eq(Units::new(&uri));
            // A query may leave out the `=` or contain delimiters, which `expand` never writes that way.
            prop_assert!(same || uri.contains('?'), "{} {} {}", text, uri, again);
            prop_assert_eq!(template.matches(&again), Some(values), "{} {}", text, uri);
        }
    }

    #[test]
    fn a_value_that_is_let_in_stays_in_its_folder(tail in "[a.%2eEfF5cC:/\\\\]{1,12}") {
        let starts =
            [("x:{a}", "x:"), ("x:{+a}", "x:"), ("x:k{/a}", "x:k/"), ("x:k{?a}", "x:k?a=")];
        for (text, start) in starts {
            let template = Template::parse(text).expect(text);
            let Some(values) = template.matches(&format!("{start}{tail}")) else { continue };
            let value = values.get("a").and_then(Value::as_str).unwrap_or_default();
            let path = std::path::Path::new(value);
            let is_normal = |part| matches!(part, std::path::Component::Normal(_));
            prop_assert!(path.components().all(is_normal), "{} {}", text, value);
            prop_assert!(!value.contains('\\'), "{} {}", text, value);
        }
    }

    #[test]
    fn nothing_panics(template in any::<String>(), uri in any::<String>()) {
        if let Ok(template) = Template::parse(&template) {
            template.matches(&uri);
        }
    }

    #[test]
    fn templates_of_all_forms_take_any_uri(
        template in "(x|/|é|\\{[+#./;?&]?[ab](\\*|:2)?(,b\\*?)?\\}){0,8}",
        uri in "[xab/é?#&=;,.:%2F-]{0,24}",
    ) {
        let template = Template::parse(&template).expect("the expression makes templates");
        template.matches(&uri);
    }
}
