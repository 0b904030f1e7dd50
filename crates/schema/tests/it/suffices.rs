//! Whether deserializing can replace a check.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use turnbuckle_schema::{Schema, arguments_schema, serde_enforces, serde_suffices};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only parsed")]
struct Everyday {
    /// Some text.
    path: String,
    limit: Option<u32>,
    byte: u8,
    ratio: f64,
    force: bool,
    tags: Vec<String>,
    unit: Unit,
    at: Option<Point>,
    place: Place,
    named: BTreeMap<String, i64>,
    either: Either,
    any: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
enum Unit {
    Celsius,
    /// With a doc comment.
    Kelvin,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only parsed")]
struct Point {
    x: f32,
    y: i16,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only parsed")]
enum Place {
    City { name: String },
    Spot(Point),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only parsed")]
enum Either {
    Number(i64),
    Text(String),
}

#[track_caller]
fn judged<T: JsonSchema + DeserializeOwned>(suffices: bool, enforces: bool) {
    let schema = Value::from(arguments_schema::<T>().expect("an object"));
    assert_eq!(serde_suffices(&schema), suffices, "suffices: {schema}");
    assert_eq!(serde_enforces::<T>(&schema), enforces, "enforces: {schema}");
}

#[test]
fn everyday_arguments_need_no_check() {
    judged::<Everyday>(true, true);
}

#[test]
fn an_attribute_that_says_more_than_the_type_is_found_out() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Ranged {
        #[schemars(range(min = 0))]
        number: i32,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Listed {
        #[schemars(extend("enum" = ["a", "b"]))]
        name: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Forced {
        #[schemars(required)]
        name: Option<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Narrowed {
        #[schemars(with = "u8")]
        number: Option<i64>,
    }

    // By its keywords alone, the type could be a `u32`.
    judged::<Ranged>(true, false);
    judged::<Listed>(true, false);
    judged::<Forced>(true, false);
    judged::<Narrowed>(true, false);
}

#[test]
fn keywords_that_no_type_expresses_need_a_check() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Patterned {
        #[schemars(regex(pattern = "^a"))]
        name: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Long {
        #[schemars(length(min = 2))]
        name: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Unique {
        names: HashSet<String>,
    }

    judged::<Patterned>(false, false);
    judged::<Long>(false, false);
    // serde drops a duplicate without an error.
    judged::<Unique>(false, false);
    for schema in [
        json!({ "multipleOf": 2 }),
        json!({ "not": {} }),
        json!({ "type": "number", "minimum": 0 }),
        json!({ "type": "integer", "minimum": 1 }),
        json!({ "type": "integer", "minimum": 0, "maximum": 100 }),
        json!({ "minimum": 0 }),
        json!({ "properties": { "a": { "minLength": 1 } } }),
        json!({ "$ref": "https://example.com/other" }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#" }),
        json!(false),
        json!(5),
    ] {
        assert!(!serde_suffices(&schema), "{schema}");
    }
    assert!(serde_suffices(
        &json!({ "x-mcp-header": "Region", "type": "string", "title": "Region" })
    ));
}

#[test]
fn a_closed_struct_is_enforced_but_not_by_its_keywords() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Closed {
        name: String,
        letter: char,
        triple: Option<[u8; 3]>,
    }
    judged::<Closed>(false, true);
}

#[test]
fn a_recursive_type_is_probed_once_for_all_levels() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Tree {
        name: String,
        children: Vec<Tree>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Deep {
        #[schemars(range(max = 9))]
        level: i64,
        next: Option<Box<Deep>>,
    }
    judged::<Tree>(true, true);
    judged::<Deep>(false, false);
}

#[test]
fn a_type_that_refuses_everything_proves_nothing() {
    #[derive(JsonSchema)]
    struct Never {}
    impl<'de> Deserialize<'de> for Never {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Err(serde::de::Error::custom("no"))
        }
    }
    judged::<Never>(true, false);
}

#[test]
fn what_the_type_accepts_the_schema_accepts() {
    let schema = Value::from(arguments_schema::<Everyday>().expect("an object"));
    let compiled = Schema::compile(&schema).expect("a schema");
    let good = json!({
        "path": "/", "byte": 3, "ratio": 1, "force": true, "tags": [], "unit": "Kelvin",
        "place": { "kind": "City", "name": "x" }, "named": { "a": 1 }, "either": "t"
    });
    assert!(compiled.is_valid(&good));
    assert!(serde_json::from_value::<Everyday>(good).is_ok());
}
