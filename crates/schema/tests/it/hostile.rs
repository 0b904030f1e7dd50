//! Malicious schemas and instances: nothing may panic, overflow the stack, or run without end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use turnbuckle_schema::limits::{MAX_INSTANCE_DEPTH, MAX_PATTERNS, MAX_VIOLATIONS};
use turnbuckle_schema::{Keyword, Schema, SchemaError, serde_suffices};

use crate::generate::{Dice, arbitrary, instance};

/// Far more than the limits allow in a debug build on a busy machine, far less than a hang.
const TIMEOUT: Duration = Duration::from_mins(1);

#[test]
fn arbitrary_json_as_a_schema_never_panics() {
    let mut compiled = 0;
    for seed in 0..20_000 {
        let mut dice = Dice::new(seed);
        let source = arbitrary(&mut dice, 5);
        let _ = serde_suffices(&source);
        let Ok(schema) = Schema::compile(&source) else {
            continue;
        };
        compiled += 1;
        for mut instance in [instance(&mut dice, 2), arbitrary(&mut dice, 3)] {
            let checked = schema.check(&instance);
            assert_eq!(checked.is_ok(), schema.is_valid(&instance), "seed {seed}");
            if let Err(violations) = checked {
                assert!(
                    (1..=MAX_VIOLATIONS).contains(&violations.len()),
                    "seed {seed}"
                );
                assert!(!schema.explain(&violations).is_empty(), "seed {seed}");
            }
            let _ = schema.coerce(&mut instance);
        }
        assert!(
            schema
                .example()
                .is_none_or(|example| schema.is_valid(&example)),
            "seed {seed}"
        );
    }
    assert!(compiled > 2_000, "only {compiled} were schemas");
}

#[test]
fn circles_without_progress_are_refused() {
    for source in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"if": {"$ref": "#"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
    ] {
        let refused = Schema::compile(&source);
        assert!(
            matches!(refused, Err(SchemaError::EndlessReference { .. })),
            "{source}: {refused:?}"
        );
    }
}

#[test]
fn a_dynamic_circle_ends_in_a_limit() {
    let schema = Schema::compile(&json!({
        "$dynamicAnchor": "node",
        "anyOf": [{ "$dynamicRef": "#node" }]
    }))
    .expect("only a check can tell");
    let violations = schema.check(&json!(1)).expect_err("it never ends");
    assert_eq!(violations[0].keyword, Keyword::Limit);
    assert!(!schema.is_valid(&json!(1)));
}

/// Forty levels of definitions that each refer twice to the next: 2^40 checks without a limit.
fn multiplying() -> Value {
    let mut definitions = json!({ "d40": { "type": ["string", "object"] } });
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions[format!("d{level}")] = json!({ "allOf": [next, next] });
    }
    definitions
}

// rule: J12
#[test]
fn references_that_multiply_end_in_a_limit() {
    let start = Instant::now();
    let schema = Schema::compile(&json!({ "$ref": "#/$defs/d0", "$defs": multiplying() }))
        .expect("no circle");
    let violations = schema.check(&json!("text")).expect_err("too much work");
    assert_eq!(violations[0].keyword, Keyword::Limit);
    let _ = schema.coerce(&mut json!(5));
    let _ = schema.example();
    assert!(start.elapsed() < TIMEOUT, "took {:?}", start.elapsed());
}

#[test]
fn a_violation_found_in_time_is_told_though_the_rest_is_too_much() {
    let schema = Schema::compile(&json!({
        "properties": { "a": { "type": "integer" } },
        "$ref": "#/$defs/d0",
        "$defs": multiplying()
    }))
    .expect("no circle");
    let violations = schema.check(&json!({ "a": "x" })).expect_err("a is wrong");
    assert_eq!(violations.len(), 1);
    assert_eq!(
        (violations[0].pointer.as_str(), violations[0].keyword),
        ("/a", Keyword::Type)
    );
}

#[test]
fn nested_unevaluated_branches_end() {
    let mut schema = json!({ "properties": { "a": true } });
    for _ in 0..30 {
        schema = json!({ "anyOf": [schema, schema], "unevaluatedProperties": false });
        if schema.to_string().len() > 20_000 {
            break;
        }
    }
    let start = Instant::now();
    let compiled = Schema::compile(&schema).expect("a schema");
    let _ = compiled.check(&json!({ "a": 1, "b": 2 }));
    assert!(start.elapsed() < TIMEOUT, "took {:?}", start.elapsed());
}

#[test]
fn deep_instances_are_refused_and_legal_depth_fits_the_stack() {
    let schema = Schema::compile(&json!({
        "$defs": { "tree": { "anyOf": [{ "type": "array", "items": { "$ref": "#/$defs/tree" } }, { "type": "integer" }] } },
        "$ref": "#/$defs/tree"
    }))
    .expect("a schema");
    let nested = |levels: usize, leaf: Value| (0..levels).fold(leaf, |inner, _| json!([inner]));
    // Half of the two mebibytes of stack that runtimes give to worker threads.
    let check = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || {
            assert!(schema.is_valid(&nested(MAX_INSTANCE_DEPTH - 1, json!(1))));
            let mut wrong = nested(MAX_INSTANCE_DEPTH - 1, json!("1"));
            assert!(schema.check(&wrong).is_err());
            let _ = schema.coerce(&mut wrong);
            let violations = schema.check(&nested(200, json!(1))).expect_err("too deep");
            assert_eq!(violations[0].keyword, Keyword::Limit);
        });
    check.expect("a thread").join().expect("no overflow");
}

#[test]
fn long_chains_of_references_end_in_a_limit_not_an_overflow() {
    let mut definitions = json!({ "d5000": { "type": "string" } });
    for level in 0..5_000 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions[format!("d{level}")] = json!({ "minLength": 0, "allOf": [next] });
    }
    let source = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    let check = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || {
            let schema = Schema::compile(&source).expect("no circle");
            let violations = schema.check(&json!("text")).expect_err("too many");
            assert_eq!(violations[0].keyword, Keyword::Limit);
            let _ = schema.coerce(&mut json!(5));
            let _ = schema.example();
        });
    check.expect("a thread").join().expect("no overflow");
}

#[test]
fn too_many_patterns_are_refused_and_equal_ones_count_once() {
    let document = |different: bool| {
        let each =
            |n: usize| json!({ "pattern": if different { format!("a{n}") } else { "a".into() } });
        json!({ "allOf": (0..=MAX_PATTERNS).map(each).collect::<Vec<_>>() })
    };
    let refused = Schema::compile(&document(true));
    assert!(matches!(
        refused,
        Err(SchemaError::TooManyPatterns {
            limit: MAX_PATTERNS
        })
    ));
    assert!(Schema::compile(&document(false)).is_ok());
}

#[test]
fn a_costly_pattern_ends_in_a_limit() {
    let schema = Schema::compile(&json!({ "not": { "pattern": "^(?:(?=a)a|a)*(?=c)$" } }))
        .expect("a schema");
    let text = json!("a".repeat(64));
    // Under `not`, a match that gave up would look like success.
    assert!(!schema.is_valid(&text));
    assert_eq!(
        schema.check(&text).expect_err("exhausted")[0].keyword,
        Keyword::Limit
    );
}

#[test]
fn a_large_array_with_unique_items_is_quick() {
    let schema = Schema::compile(&json!({ "uniqueItems": true })).expect("a schema");
    let start = Instant::now();
    let items: Vec<Value> = (0..100_000).map(|n| json!({ "n": n })).collect();
    assert!(schema.is_valid(&Value::Array(items)));
    assert!(start.elapsed() < TIMEOUT, "took {:?}", start.elapsed());
}

#[test]
fn every_kind_of_nesting_fits_the_stack() {
    // Each level of the instance goes through as many schemas as possible.
    let schema = Schema::compile(&json!({
        "$ref": "#/$defs/any",
        "$defs": {
            "any": { "allOf": [{ "anyOf": [{ "oneOf": [{ "if": true, "then": { "$ref": "#/$defs/object" } }] }] }] },
            "object": {
                "type": "object",
                "properties": { "a": { "$ref": "#/$defs/any" } },
                "patternProperties": { "^b": { "$ref": "#/$defs/any" } },
                "additionalProperties": { "$ref": "#/$defs/any" },
                "unevaluatedProperties": false
            }
        }
    }))
    .expect("a schema");
    for name in ["a", "b", "c"] {
        let schema = schema.clone();
        let check = std::thread::Builder::new()
            .stack_size(1024 * 1024)
            .spawn(move || {
                for leaf in [json!({}), json!("{}"), json!(1)] {
                    let mut instance = (0..120).fold(leaf, |inner, _| json!({ name: inner }));
                    let _ = schema.check(&instance);
                    let _ = schema.coerce(&mut instance);
                    let _ = schema.example();
                }
            });
        check.expect("a thread").join().expect("no overflow");
    }
}

/// The engine does not limit the size of the automata that it builds for look-behind.
#[test]
fn repeated_parts_inside_look_around_are_limited_together() {
    let refused = [
        // One part that is repeated up to a million times.
        "(?<=(?:(?:a{0,99}){0,99}){0,99})b".to_owned(),
        r"(?<!(?:\p{L}{1,60}){1,60})b".to_owned(),
        // Many parts, each of them small enough.
        "(?=a{0,900}b)".repeat(200),
        "(?<=a{0,900}b)".repeat(200),
    ];
    for pattern in refused {
        let refused = Schema::compile(&json!({ "pattern": pattern })).unwrap_err();
        assert!(refused.to_string().contains("states"), "{refused}");
    }
    let large = Schema::compile(&json!({ "pattern": r"(?:\p{L}{1,100}){1,100}" })).unwrap_err();
    assert!(large.to_string().contains("fewer repetitions"), "{large}");
    let accepted = [
        "^(?=.{1,253}$)(?:(?!-)[a-zA-Z0-9-]{1,63}\\.)+[a-zA-Z]{2,63}$",
        r"^(?!\s*$)[\s\S]{1,1000}$",
        "(?<=a{0,99})b",
        r"^(?=(?:.*\d){2,20})(?=.*\p{Lu}).{8,128}$",
    ];
    for pattern in accepted {
        let schema = Schema::compile(&json!({ "pattern": pattern }));
        assert!(schema.is_ok(), "{pattern}: {schema:?}");
    }
}
