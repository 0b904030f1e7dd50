//! `#[derive(Form)]` and `#[derive(Choice)]`: the form that clients show, and the values that handlers get.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use turnbuckle::{
    Choice, Form, FormValues,
    protocol::{ElicitRequestFormParams, ElicitRequestParams, ElicitResult, Revision},
};

/// Where to sit.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Place {
    Window,
    InTheAisle,
}

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meal {
    /// Vegetables
    /// only.
    ///
    /// No fish either.
    #[serde(rename = "vegan")]
    Vegan,
    #[form(title = "Whatever there is", rename = "any")]
    Any,
    Nothing,
}

const LAST_ROW: u8 = 40;

#[derive(Form, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Everything {
    /// Counted from the front.
    ///
    /// Row 13 is missing.
    #[form(title = "Row", min = 1, max = LAST_ROW, default = 7)]
    seat_row: u8,
    #[form(min_length = 2, max_length = 40)]
    name: String,
    #[form(format = "email", description = "Where the ticket goes.")]
    mail: Option<String>,
    #[form(format = "uri")]
    site: Option<String>,
    #[form(format = "date")]
    day: Option<String>,
    #[form(format = "date-time", default = "2026-07-28T09:00:00Z")]
    leaves: String,
    #[form(min = -0.5, max = 99.5)]
    luggage: f64,
    #[form(rename = "vip")]
    is_vip: bool,
    #[form(default = true)]
    insured: bool,
    place: Place,
    #[form(default = Meal::Vegan)]
    meal: Meal,
    #[form(min_items = 1, max_items = 2, default = [Place::Window])]
    places: Vec<Place>,
    meals: Option<BTreeSet<Meal>>,
    #[form(default = 3)]
    tip: Option<i64>,
    #[serde(default)]
    note: String,
    #[serde(skip)]
    price: u32,
}

fn written(form: ElicitRequestFormParams) -> Value {
    serde_json::to_value(form.requested_schema).unwrap()
}

// rule: E4
#[test]
fn every_kind_of_field_is_said_in_the_words_of_the_specification() {
    let form = written(ElicitRequestFormParams::new("", Everything::schema()));
    let meals = json!([
        {"const": "vegan", "title": "Vegetables only"},
        {"const": "any", "title": "Whatever there is"},
        {"const": "Nothing", "title": "Nothing"},
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "seatRow": {
                "type": "integer", "title": "Row",
                "description": "Counted from the front.\n\nRow 13 is missing.",
                "minimum": 1, "maximum": 40, "default": 7,
            },
            "name": {"type": "string", "minLength": 2, "maxLength": 40},
            "mail": {"type": "string", "format": "email", "description": "Where the ticket goes."},
            "site": {"type": "string", "format": "uri"},
            "day": {"type": "string", "format": "date"},
            "leaves": {"type": "string", "format": "date-time", "default": "2026-07-28T09:00:00Z"},
            "luggage": {"type": "number", "minimum": -0.5, "maximum": 99.5},
            "vip": {"type": "boolean"},
            "insured": {"type": "boolean", "default": true},
            "place": {"type": "string", "enum": ["window", "in-the-aisle"]},
            "meal": {"type": "string", "oneOf": meals, "default": "vegan"},
            "places": {
                "type": "array", "items": {"type": "string", "enum": ["window", "in-the-aisle"]},
                "minItems": 1, "maxItems": 2, "default": ["window"],
            },
            "meals": {"type": "array", "items": {"anyOf": meals}},
            "tip": {"type": "integer", "default": 3},
            "note": {"type": "string"},
        },
        "required": ["name", "luggage", "vip", "place"],
    });
    assert_eq!(form, expected);
    let order: Vec<_> = form["properties"].as_object().unwrap().keys().collect();
    assert_eq!(order[..3], ["seatRow", "name", "mail"], "shown in order");
}

fn filled(content: &Value) -> Result<Everything, turnbuckle::FieldError> {
    let result = json!({"action": "accept", "content": content});
    let result: ElicitResult = serde_json::from_value(result).unwrap();
    Everything::read(&mut FormValues::from(result))
}

#[test]
fn an_empty_field_has_its_default_and_an_empty_option_is_none() {
    let least = json!({"name": "Ada", "luggage": 1, "vip": false, "place": "in-the-aisle"});
    let read = filled(&least).unwrap();
    let expected = Everything {
        seat_row: 7,
        name: "Ada".into(),
        mail: None,
        site: None,
        day: None,
        leaves: "2026-07-28T09:00:00Z".into(),
        luggage: 1.0,
        is_vip: false,
        insured: true,
        place: Place::InTheAisle,
        meal: Meal::Vegan,
        places: vec![Place::Window],
        meals: None,
        tip: None,
        note: String::new(),
        price: 0,
    };
    assert_eq!(read, expected);
}

#[test]
fn what_is_filled_in_is_read() {
    let read = filled(&json!({
        "seatRow": 3, "name": "Ada", "mail": "a@b.example", "luggage": 1.5, "vip": true,
        "insured": false, "place": "window", "meal": "any", "places": ["in-the-aisle", "window"],
        "meals": ["Nothing", "vegan", "vegan"], "tip": -2, "note": "none", "leaves": "later",
    }))
    .unwrap();
    assert_eq!((read.seat_row, read.insured, read.is_vip), (3, false, true));
    assert_eq!((read.meal, read.place), (Meal::Any, Place::Window));
    assert_eq!(read.places, [Place::InTheAisle, Place::Window]);
    assert_eq!(read.meals, Some([Meal::Vegan, Meal::Nothing].into()));
    assert_eq!((read.tip, &*read.note), (Some(-2), "none"));
}

#[derive(Form)]
#[expect(dead_code, reason = "it is shown, not read")]
struct Titled {
    #[form(default = Meal::Any)]
    meal: Meal,
    #[form(default = "x")]
    text: String,
}

// elicitation: 2025-06-18 titles choices with `enumNames`, and only booleans have defaults.
#[test]
fn older_clients_are_shown_the_same_in_their_own_words() {
    let lowered = |form: ElicitRequestFormParams, revision| match ElicitRequestParams::from(form)
        .lower_to(revision)
    {
        Ok(ElicitRequestParams::Form(form)) => Ok(written(form)),
        Ok(other) => panic!("{other:?}"),
        Err(inexpressible) => Err(inexpressible.to_string()),
    };
    let titled = ElicitRequestFormParams::new("", Titled::schema());
    let early = lowered(titled.clone(), Revision::V2025_06_18).unwrap();
    let expected = json!({
        "meal": {
            "type": "string", "enum": ["vegan", "any", "Nothing"],
            "enumNames": ["Vegetables only", "Whatever there is", "Nothing"],
        },
        "text": {"type": "string"},
    });
    assert_eq!(early["properties"], expected);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let later = lowered(titled.clone(), revision).unwrap();
        assert_eq!(later["properties"]["meal"]["default"], "any");
        assert!(later["properties"]["meal"]["oneOf"].is_array());
    }
    let several = ElicitRequestFormParams::new("", Everything::schema());
    let refused = lowered(several, Revision::V2025_06_18).unwrap_err();
    assert!(refused.contains("`places`"), "{refused}");
}

#[derive(Form)]
struct Empty;

#[test]
fn a_form_may_have_no_fields() {
    assert!(Empty::schema().properties.is_empty());
    assert!(<() as Form>::schema().properties.is_empty());
    assert!(Empty::read(&mut FormValues::default()).is_ok());
}
