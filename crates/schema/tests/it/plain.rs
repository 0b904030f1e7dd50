//! Schemas of Rust types, as a client sees them.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnbuckle_schema::{ArgumentsError, Schema, arguments_schema, output_schema};

/// Where something is.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    /// Degrees north.
    lat: f64,
    lon: Option<f64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// How soon.
#[derive(Serialize, Deserialize, JsonSchema)]
enum Urgency {
    /// When there is time.
    Low,
    /// Now.
    High,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Place {
    City { name: String },
    Spot(Point),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

#[track_caller]
fn arguments<T: JsonSchema>() -> Value {
    arguments_schema::<T>().expect("an object").into()
}

#[test]
fn fields_become_properties_in_their_order_with_their_docs() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Forecast {
        zone: String,
        /// How many days.
        days: Option<u8>,
        at: Point,
        unit: Unit,
        index: i64,
        amount: u32,
        small: i16,
    }
    let schema = arguments::<Forecast>();
    assert_eq!(
        schema.to_string(),
        json!({
            "type": "object",
            "properties": {
                "zone": { "type": "string" },
                "days": { "description": "How many days.", "type": "integer", "minimum": 0, "maximum": 255 },
                "at": {
                    "description": "Where something is.",
                    "type": "object",
                    "properties": {
                        "lat": { "description": "Degrees north.", "type": "number" },
                        "lon": { "type": "number" }
                    },
                    "required": ["lat"]
                },
                "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] },
                "index": { "type": "integer" },
                "amount": { "type": "integer", "minimum": 0 },
                "small": { "type": "integer", "minimum": -32768, "maximum": 32767 }
            },
            "required": ["zone", "at", "unit", "index", "amount", "small"]
        })
        .to_string()
    );
}

#[test]
fn optional_fields_of_every_kind_say_nothing_of_null() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Options {
        point: Option<Point>,
        unit: Option<Unit>,
        /// Says more than the type.
        urgency: Option<Urgency>,
        #[serde(default)]
        note: Option<String>,
        list: Option<Vec<String>>,
        any: Option<Value>,
        place: Option<Place>,
    }
    let schema = arguments::<Options>();
    assert!(!schema.to_string().contains("null"), "{schema}");
    assert!(schema.get("required").is_none(), "{schema}");
    assert_eq!(
        schema["properties"]["urgency"]["description"],
        "Says more than the type."
    );
    assert_eq!(
        schema["properties"]["unit"]["enum"],
        json!(["celsius", "fahrenheit"])
    );
    assert_eq!(schema["properties"]["any"], json!({}));
    assert_eq!(schema["properties"]["note"], json!({ "type": "string" }));
    assert_eq!(
        schema["properties"]["place"]["oneOf"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    // A `null` that a model sends anyway is accepted.
    let mut sent =
        json!({ "point": null, "unit": null, "urgency": null, "note": null, "place": null });
    let compiled = Schema::compile(&schema).expect("a schema");
    let _ = compiled.coerce(&mut sent);
    assert_eq!(sent, json!({}));
}

#[test]
fn variants_with_docs_keep_them() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Task {
        urgency: Urgency,
    }
    assert_eq!(
        arguments::<Task>()["properties"]["urgency"],
        json!({
            "description": "How soon.",
            "oneOf": [
                { "description": "When there is time.", "type": "string", "const": "Low" },
                { "description": "Now.", "type": "string", "const": "High" }
            ]
        })
    );
}

#[test]
fn only_recursive_types_are_references() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Forest {
        first: Tree,
        points: Vec<Point>,
        named: BTreeMap<String, Point>,
    }
    let schema = arguments::<Forest>();
    assert_eq!(
        schema["properties"]["first"],
        json!({ "$ref": "#/$defs/Tree" })
    );
    assert_eq!(
        schema["$defs"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    assert_eq!(
        schema["$defs"]["Tree"]["properties"]["parent"],
        json!({ "$ref": "#/$defs/Tree" })
    );
    assert_eq!(
        schema["properties"]["points"]["items"]["required"],
        json!(["lat"])
    );
    let compiled = Schema::compile(&schema).expect("a schema");
    let tree = json!({ "name": "a", "children": [{ "name": "b", "children": [] }] });
    assert!(compiled.is_valid(&json!({ "first": tree, "points": [], "named": {} })));
    let root = arguments::<Tree>();
    assert_eq!(
        root["properties"]["children"]["items"],
        json!({ "$ref": "#" })
    );
}

#[test]
fn the_root_says_object_however_the_type_is_made() {
    #[derive(JsonSchema)]
    struct Nothing {}
    let tagged = arguments::<Place>();
    assert_eq!(tagged["type"], "object");
    assert_eq!(tagged["oneOf"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        arguments::<Value>(),
        json!({ "type": "object", "properties": {} })
    );
    assert_eq!(arguments::<Option<Point>>()["type"], "object");
    assert_eq!(
        arguments::<HashMap<String, bool>>(),
        json!({ "type": "object", "additionalProperties": { "type": "boolean" } })
    );
    assert_eq!(
        arguments::<Nothing>(),
        json!({ "type": "object", "properties": {} })
    );
}

#[test]
fn what_is_not_an_object_is_an_error_that_names_the_type() {
    #[track_caller]
    fn refused<T: JsonSchema>(wanted: &str) {
        let Err(error) = arguments_schema::<T>() else {
            panic!("it is not an object")
        };
        let ArgumentsError::NotAnObject { type_name, found } = &error else {
            panic!("{error}")
        };
        assert_eq!(*type_name, std::any::type_name::<T>());
        assert_eq!(found, wanted);
    }
    refused::<String>("a string");
    refused::<Vec<Point>>("an array");
    refused::<()>("null");
    refused::<Unit>("a string");
    refused::<Urgency>("a string in one of its alternatives");
    let message = arguments_schema::<u8>()
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`u8`") && message.contains("named fields"),
        "{message}"
    );
}

#[test]
fn a_title_of_the_author_stays() {
    #[derive(JsonSchema)]
    #[schemars(title = "Booking")]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Book {
        #[schemars(title = "Seat number")]
        seat: u8,
    }
    let schema = arguments::<Book>();
    assert_eq!(schema["title"], "Booking");
    assert_eq!(schema["properties"]["seat"]["title"], "Seat number");
    assert!(arguments::<Point>().get("title").is_none());
}

#[test]
fn outputs_announce_every_null_they_may_contain() {
    let schema = output_schema::<Point>();
    assert_eq!(schema["required"], json!(["lat", "lon"]));
    assert!(schema.get("title").is_none() && schema.get("$schema").is_none());
    let compiled = Schema::compile(&schema).expect("a schema");
    let written = serde_json::to_value(Point {
        lat: 1.0,
        lon: None,
    })
    .expect("plain data");
    assert!(compiled.is_valid(&written), "{schema}");
    assert_eq!(output_schema::<Value>(), json!({}));
    assert_eq!(
        output_schema::<Vec<u8>>()["items"],
        json!({ "type": "integer", "minimum": 0, "maximum": 255 })
    );
    assert_eq!(output_schema::<String>(), json!({ "type": "string" }));
}

#[test]
fn every_derived_schema_compiles_and_has_an_example_that_reads_back() {
    #[track_caller]
    fn round<T: JsonSchema + for<'de> Deserialize<'de>>() {
        let schema = Schema::compile(&arguments::<T>()).expect("a schema");
        let example = schema.example().expect("an example");
        assert!(
            serde_json::from_value::<T>(example.clone()).is_ok(),
            "{example}"
        );
    }
    round::<Point>();
    round::<Place>();
    round::<Tree>();
}
