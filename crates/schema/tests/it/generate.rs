//! Random schemas and instances, small and made from the same few names and values, so that they often match.
//! The same seed gives the same ones again, and a failing case is reduced to a small one that still fails.

use serde_json::{Map, Value, json};

/// A source of random choices, the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64: short, and good enough to choose keywords.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("below a usize")
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Between `least` and `most` values.
    fn several(
        &mut self,
        least: usize,
        most: usize,
        mut one: impl FnMut(&mut Self) -> Value,
    ) -> Vec<Value> {
        let length = least + self.below(most - least + 1);
        (0..length).map(|_| one(self)).collect()
    }

    fn members(
        &mut self,
        names: &[&str],
        most: usize,
        mut one: impl FnMut(&mut Self) -> Value,
    ) -> Value {
        let length = self.below(most + 1);
        let member = |_| (self.pick(names).to_owned(), one(self));
        Value::Object((0..length).map(member).collect())
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "aa"];

/// A JSON value with a few levels.
pub(crate) fn instance(dice: &mut Dice, levels: usize) -> Value {
    match dice.below(if levels == 0 { 3 } else { 7 }) {
        0..3 => scalar(dice),
        3 | 4 => Value::Array(dice.several(0, 3, |dice| instance(dice, levels - 1))),
        _ => dice.members(&NAMES, 3, |dice| instance(dice, levels - 1)),
    }
}

/// A schema document with definitions that refer to one another.
pub(crate) fn document(dice: &mut Dice) -> Value {
    let mut root = as_object(schema(dice, 3));
    let mut third = as_object(schema(dice, 2));
    third.insert("$dynamicAnchor".into(), "node".into());
    third.insert("$anchor".into(), "third".into());
    let embedded = json!({
        "$id": "https://example.com/embedded",
        "$defs": { "node": { "$dynamicAnchor": "node", "allOf": [schema(dice, 2)] } },
        "items": { "$dynamicRef": "#node" },
        "properties": { "b": { "$dynamicRef": "#node" } }
    });
    root.insert("$id".into(), "https://example.com/root".into());
    root.insert(
        "$defs".into(),
        json!({ "d0": schema(dice, 2), "d1": embedded, "d2": third }),
    );
    Value::Object(root)
}

/// Arbitrary JSON, mostly with keywords as names.
pub(crate) fn arbitrary(dice: &mut Dice, levels: usize) -> Value {
    match dice.below(if levels == 0 { 4 } else { 12 }) {
        0 => scalar(dice),
        1 => dice.pick(&TEXTS).into(),
        2 => json!(dice.pick(&[i64::MIN, -1, 0, 1, 1 << 53, i64::MAX])),
        3 => json!(dice.pick(&[0.0, -0.0, 1e308, -1e-308, 5e-324, 0.1])),
        4 | 5 => Value::Array(dice.several(0, 3, |dice| arbitrary(dice, levels - 1))),
        6 => dice.members(&NAMES, 4, |dice| arbitrary(dice, levels - 1)),
        _ => dice.members(&KEYWORDS, 5, |dice| arbitrary(dice, levels - 1)),
    }
}

/// Reduces a failing case: removes parts as long as it still fails.
pub(crate) fn smallest(mut value: Value, fails: impl Fn(&Value) -> bool) -> Value {
    while let Some(smaller) = smaller(&value).into_iter().find(|smaller| fails(smaller)) {
        value = smaller;
    }
    value
}

fn smaller(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let mut without = members.clone();
                without.remove(name);
                found.push(Value::Object(without));
                for cut in smaller(inner) {
                    let mut with = members.clone();
                    with.insert(name.clone(), cut);
                    found.push(Value::Object(with));
                }
            }
            found.extend(members.values().cloned());
        }
        Value::Array(items) => {
            for position in 0..items.len() {
                let mut without = items.clone();
                without.remove(position);
                found.push(Value::Array(without));
                for cut in smaller(&items[position]) {
                    let mut with = items.clone();
                    with[position] = cut;
                    found.push(Value::Array(with));
                }
            }
        }
        _ => {}
    }
    found
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => Value::Null,
        1 => json!(dice.below(2) == 0),
        2 | 3 => json!(dice.pick(&[-2, -1, 0, 1, 2, 3, 4])),
        4 => json!(dice.pick(&[0.0, 0.5, 1.0, 2.0, 2.5, -1.5])),
        _ => dice
            .pick(&["", "a", "ab", "abc", "é", "b", "5", "true"])
            .into(),
    }
}

fn schema(dice: &mut Dice, levels: usize) -> Value {
    let kind = dice.below(if levels == 0 { 8 } else { 16 });
    match kind {
        0 => json!(dice.below(2) == 0),
        1 => json!({ "$ref": dice.pick(&REFERENCES) }),
        2 => json!({ "$dynamicRef": "#node" }),
        3..8 => Value::Object((0..=dice.below(2)).map(|_| assertion(dice)).collect()),
        _ => {
            let mut parts: Map<String, Value> =
                (0..dice.below(2)).map(|_| assertion(dice)).collect();
            for _ in 0..=dice.below(3) {
                applicator(dice, levels - 1, &mut parts);
            }
            Value::Object(parts)
        }
    }
}

fn assertion(dice: &mut Dice) -> (String, Value) {
    let kinds = [
        "null", "boolean", "object", "array", "number", "string", "integer", "object", "array",
    ];
    let names = |dice: &mut Dice| distinct(dice.several(0, 2, |dice| dice.pick(&NAMES).into()));
    let keyword = dice.pick(&[
        "type",
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "required",
        "dependentRequired",
    ]);
    let value = match keyword {
        "type" if dice.below(2) == 0 => dice.pick(&kinds).into(),
        "type" => distinct(dice.several(1, 3, |dice| dice.pick(&kinds).into())),
        "enum" => Value::Array(dice.several(1, 3, |dice| instance(dice, 1))),
        "const" => instance(dice, 1),
        "multipleOf" => dice.pick(&[json!(2), json!(0.5), json!(1.5)]),
        "pattern" => dice.pick(&["^a", "b$", "a|b", "^[^b]*$"]).into(),
        "uniqueItems" => json!(dice.below(4) > 0),
        "required" => names(dice),
        "dependentRequired" => json!({ dice.pick(&NAMES): names(dice) }),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => dice.pick(&[
            json!(-1),
            json!(0),
            json!(1),
            json!(2),
            json!(3),
            json!(0.5),
        ]),
        _ => json!(dice.below(4)),
    };
    (keyword.to_owned(), value)
}

fn applicator(dice: &mut Dice, levels: usize, parts: &mut Map<String, Value>) {
    let one = |dice: &mut Dice| schema(dice, levels);
    let keyword = dice.pick(&[
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "dependentSchemas",
        "items",
        "prefixItems",
        "unevaluatedProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contains",
        "if",
    ]);
    let value = match keyword {
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Value::Array(dice.several(1, 3, one)),
        "properties" | "dependentSchemas" => dice.members(&NAMES, 3, one),
        "patternProperties" => dice.members(&["^a", "b"], 2, one),
        "unevaluatedProperties" | "unevaluatedItems" if dice.below(4) > 0 => json!(false),
        _ => one(dice),
    };
    if keyword == "contains" && dice.below(2) == 0 {
        parts.insert("minContains".into(), json!(dice.below(3)));
        parts.insert("maxContains".into(), json!(dice.below(3)));
    }
    if keyword == "if" {
        parts.insert("then".into(), one(dice));
        parts.insert("else".into(), one(dice));
    }
    parts.insert(keyword.to_owned(), value);
}

fn as_object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        other => [("allOf".to_owned(), json!([other]))].into_iter().collect(),
    }
}

fn distinct(names: Vec<Value>) -> Value {
    let mut names: Vec<String> = names
        .into_iter()
        .filter_map(|name| Some(name.as_str()?.to_owned()))
        .collect();
    names.sort();
    names.dedup();
    names.into()
}

const REFERENCES: [&str; 6] = [
    "root#/$defs/d0",
    "root#/$defs/d1",
    "root#/$defs/d2",
    "root#third",
    "root",
    "https://example.com/embedded",
];

const KEYWORDS: [&str; 41] = [
    "$ref",
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$defs",
    "$schema",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "uniqueItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "definitions",
    "dependencies",
    "examples",
    "default",
];

const TEXTS: [&str; 24] = [
    "",
    "#",
    "#/",
    "#/$defs/a",
    "#a",
    "a",
    "^a",
    "(",
    "[",
    "\\",
    "object",
    "string",
    "integer",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
    "urn:x",
    "date",
    "%zz",
    "#/allOf/0",
    "#/properties/a",
    "(?=a)",
    "a{2,1}",
    "\u{0}",
    "🐲é",
];
