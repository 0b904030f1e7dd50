//! Compares this crate with the `jsonschema` crate: on random schemas and instances, both must decide the same.

use serde_json::{Value, json};
use turnbuckle_schema::{Keyword, Schema, SchemaError, Violation};

use crate::generate::{Dice, document, instance, smallest};

/// How many documents a test checks. Set `TURNBUCKLE_CASES` for a longer search.
const CASES: u64 = 4_000;

/// Instances for each document.
const INSTANCES: usize = 8;

/// The result for one instance.
enum Outcome {
    Valid,
    Invalid,
    /// The case proves nothing.
    Skipped,
    Wrong(String),
}

fn cases() -> u64 {
    std::env::var("TURNBUCKLE_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(CASES)
}

/// Checks a claim for every case; returns how many instances were valid and how many were not. The claim
/// is prepared once for each document and then checked for its instances.
fn run<C: Fn(&Value) -> Outcome>(prepare: impl Fn(&Value) -> Option<C>) -> (u64, u64) {
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..cases() {
        let mut dice = Dice::new(seed);
        let source = document(&mut dice);
        let Some(claim) = prepare(&source) else {
            continue;
        };
        for _ in 0..INSTANCES {
            let instance = instance(&mut dice, 3);
            match claim(&instance) {
                Outcome::Valid => valid += 1,
                Outcome::Invalid => invalid += 1,
                Outcome::Skipped => {}
                Outcome::Wrong(_) => fail(seed, source.clone(), instance, &prepare),
            }
        }
    }
    (valid, invalid)
}

fn fail<C: Fn(&Value) -> Outcome>(
    seed: u64,
    source: Value,
    instance: Value,
    prepare: impl Fn(&Value) -> Option<C>,
) {
    let wrong = |source: &Value, instance: &Value| match prepare(source)?(instance) {
        Outcome::Wrong(reason) => Some(reason),
        _ => None,
    };
    let source = smallest(source, |smaller| wrong(smaller, &instance).is_some());
    let instance = smallest(instance, |smaller| wrong(&source, smaller).is_some());
    let reason = wrong(&source, &instance).unwrap_or_default();
    panic!("seed {seed}: {reason}\nschema: {source}\ninstance: {instance}");
}

/// Compiles a document. A document with a cycle, or whose definitions were removed, proves nothing.
fn compiled(source: &Value) -> Option<Schema> {
    match Schema::compile(source) {
        Ok(schema) => Some(schema),
        Err(SchemaError::EndlessReference { .. } | SchemaError::UnknownReference { .. }) => None,
        Err(error) => panic!("{error}: {source}"),
    }
}

fn is_limit(checked: &Result<(), Vec<Violation>>) -> bool {
    checked
        .as_ref()
        .is_err_and(|violations| violations[0].keyword == Keyword::Limit)
}

#[test]
fn verdicts_agree_with_the_oracle() {
    let (valid, invalid) = run(|source| {
        let schema = compiled(source)?;
        let oracle = jsonschema::draft202012::new(source).ok()?;
        Some(move |instance: &Value| {
            let checked = schema.check(instance);
            if is_limit(&checked) {
                // A cycle of dynamic references, which is only found when it is entered.
                return Outcome::Skipped;
            }
            match oracle.is_valid(instance) {
                expected
                    if schema.is_valid(instance) != expected || checked.is_ok() != expected =>
                {
                    Outcome::Wrong(format!("the oracle says {expected}; we say {checked:?}"))
                }
                true => Outcome::Valid,
                false => Outcome::Invalid,
            }
        })
    });
    println!("{valid} valid, {invalid} invalid");
    // A generator of only valid or only invalid instances would prove nothing.
    let least = cases() * INSTANCES as u64 / 6;
    assert!(
        valid > least && invalid > least,
        "{valid} valid, {invalid} invalid"
    );
}

#[test]
fn what_is_valid_is_never_changed_by_coercion() {
    let (valid, _) = run(|source| {
        let schema = compiled(source)?;
        Some(move |instance: &Value| {
            let mut value = instance.clone();
            let coercions = schema.coerce(&mut value);
            if coercions.is_empty() && &value != instance {
                return Outcome::Wrong(format!("changed to {value} in silence"));
            }
            if !schema.is_valid(instance) {
                return Outcome::Invalid;
            }
            let same = Schema::compile(&json!({ "const": instance })).expect("a constant");
            if same.is_valid(&value) {
                Outcome::Valid
            } else {
                Outcome::Wrong(format!("became {value}"))
            }
        })
    });
    assert!(valid > cases());
}

#[test]
fn every_violation_points_into_the_instance() {
    let (_, invalid) = run(|source| {
        let schema = compiled(source)?;
        Some(move |instance: &Value| {
            let Err(violations) = schema.check(instance) else {
                return Outcome::Valid;
            };
            match violations
                .iter()
                .find(|found| instance.pointer(&found.pointer).is_none())
            {
                Some(lost) => Outcome::Wrong(format!("nothing at {}", lost.pointer)),
                None => Outcome::Invalid,
            }
        })
    });
    assert!(invalid > cases());
}

#[test]
fn every_example_is_valid_to_the_oracle() {
    let mut found = 0;
    for seed in 0..cases() {
        let source = document(&mut Dice::new(seed));
        let Some(schema) = compiled(&source) else {
            continue;
        };
        let Some(example) = schema.example() else {
            continue;
        };
        let oracle = jsonschema::draft202012::new(&source).expect("a schema");
        assert!(
            oracle.is_valid(&example),
            "seed {seed}: {example} under {source}"
        );
        found += 1;
    }
    assert!(found > cases() / 3, "only {found} examples were found");
}
