//! Equality of JSON values as schemas define it: numbers by value (1 is 1.0), objects without regard to
//! order. Hashes agree with this equality, so that `uniqueItems` need not compare every pair.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use crate::limits::MAX_INSTANCE_DEPTH;
use crate::number::{Decimal, Num};

/// Arrays up to this length are compared pair by pair, which allocates nothing.
const PAIRWISE: usize = 16;

pub(crate) fn same(left: &Value, right: &Value) -> bool {
    same_within(left, right, MAX_INSTANCE_DEPTH)
}

/// The positions of two equal items, if there are any.
pub(crate) fn duplicate(items: &[Value]) -> Option<(usize, usize)> {
    if items.len() <= PAIRWISE {
        duplicate_by_pairs(items)
    } else {
        duplicate_by_hash(items)
    }
}

fn same_within(left: &Value, right: &Value, depth: usize) -> bool {
    let Some(deeper) = depth.checked_sub(1) else {
        return false;
    };
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Num::of(left).order(Num::of(right)) == Some(Ordering::Equal)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_within(left, right, deeper))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| {
                    right
                        .get(name)
                        .is_some_and(|other| same_within(value, other, deeper))
                })
        }
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        _ => false,
    }
}

fn duplicate_by_pairs(items: &[Value]) -> Option<(usize, usize)> {
    items.iter().enumerate().find_map(|(later, item)| {
        items[..later]
            .iter()
            .position(|earlier| same(earlier, item))
            .map(|earlier| (earlier, later))
    })
}

fn duplicate_by_hash(items: &[Value]) -> Option<(usize, usize)> {
    // Random keys: if the hash were known, a sender could make every item collide.
    let keys = RandomState::new();
    let mut hashes: Vec<(u64, usize)> = items
        .iter()
        .enumerate()
        .map(|(position, item)| (hash(item, &keys, MAX_INSTANCE_DEPTH), position))
        .collect();
    hashes.sort_unstable();
    // Equal items have equal hashes and so are adjacent; positions ascend within a run.
    hashes
        .chunk_by(|left, right| left.0 == right.0)
        .find_map(|run| {
            run.iter().enumerate().find_map(|(index, &(_, later))| {
                let earlier = run[..index]
                    .iter()
                    .find(|(_, at)| same(&items[*at], &items[later]))?;
                Some((earlier.1, later))
            })
        })
}

fn hash(value: &Value, keys: &RandomState, depth: usize) -> u64 {
    let Some(deeper) = depth.checked_sub(1) else {
        return 0;
    };
    let mut hasher = keys.build_hasher();
    match value {
        Value::Null => 0u8.hash(&mut hasher),
        Value::Bool(truth) => (1u8, truth).hash(&mut hasher),
        Value::Number(number) => {
            (2u8, Decimal::of(Num::of(number).canonical())).hash(&mut hasher);
        }
        Value::String(text) => (3u8, text).hash(&mut hasher),
        Value::Array(items) => {
            4u8.hash(&mut hasher);
            for item in items {
                hash(item, keys, deeper).hash(&mut hasher);
            }
        }
        Value::Object(members) => {
            // A sum does not depend on the order of the members.
            let sum = members.iter().fold(0u64, |sum, (name, value)| {
                sum.wrapping_add(keys.hash_one((name, hash(value, keys, deeper))))
            });
            (5u8, sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_the_same_by_value_and_kinds_are_not() {
        assert!(same(&json!(1), &json!(1.0)));
        assert!(!same(&json!(1), &json!(true)));
        assert!(!same(&json!("1"), &json!(1)));
        assert!(!same(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992.0)
        ));
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        assert!(same(
            &json!({"a": 1, "b": [2]}),
            &json!({"b": [2.0], "a": 1})
        ));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
    }

    #[test]
    fn long_arrays_find_the_duplicates_that_short_ones_find() {
        let mut items: Vec<Value> = (0..100).map(|n| json!({"n": n, "m": [n]})).collect();
        assert_eq!(duplicate(&items), None);
        items.push(json!({"m": [7.0], "n": 7}));
        assert_eq!(duplicate(&items), Some((7, 100)));
        assert_eq!(duplicate(&[json!(0), json!(1), json!(0.0)]), Some((0, 2)));
        items.pop();
        items.extend([
            json!(9_223_372_036_854_775_808_u64),
            json!(9_223_372_036_854_775_808.0),
        ]);
        assert_eq!(duplicate(&items), Some((100, 101)));
    }
}
