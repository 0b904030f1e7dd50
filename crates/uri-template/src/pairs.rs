//! The pairs of a query or of path parameters, in any order.

use serde_json::{Map, Value};

use super::binding::Bindings;
use super::encode::Allow;
use super::expression::Modifier;
use super::pattern::Pairs;
use super::unit::{Unit, decode};

/// Pairs, sorted by variable.
struct Sorted {
    /// For each variable, the values of the pairs with its name.
    values: Vec<Vec<Value>>,
    /// The pairs whose names are not variables.
    others: Map<String, Value>,
}

/// Reads `units`, which follow the leading delimiter, and binds their values. `None` if a pair
/// belongs to no variable, or if two pairs belong to a variable that takes one.
pub(super) fn read(pairs: &Pairs, units: &[Unit], bindings: &mut Bindings) -> Option<()> {
    let Sorted { values, mut others } = sort(pairs, units)?;
    for ((_, variable), mut values) in pairs.variables.iter().zip(values) {
        let value = match variable.modifier {
            Modifier::Explode if !values.is_empty() => Value::Array(values),
            Modifier::Explode => Value::Object(std::mem::take(&mut others)),
            Modifier::Whole | Modifier::Prefix(_) if values.len() > 1 => return None,
            Modifier::Whole | Modifier::Prefix(_) => values.pop().unwrap_or_default(),
        };
        let limit = variable.modifier.limit();
        let is_absent = match &value {
            Value::String(text) if text.chars().count() > limit => return None,
            Value::Object(members) => members.is_empty(),
            value => value.is_null(),
        };
        if is_absent {
            bindings.leave_out(&variable.name)?;
        } else {
            bindings.bind(&variable.name, value, Allow::Unreserved, limit)?;
        }
    }
    others.is_empty().then_some(())
}

/// Decodes every pair. `None` if a pair has no name, or if two pairs that belong to no variable have the same name.
fn sort(pairs: &Pairs, units: &[Unit]) -> Option<Sorted> {
    let mut values = vec![Vec::new(); pairs.variables.len()];
    let mut others = Map::new();
    for pair in units.split(|unit| *unit == Unit::Plain(pairs.separator)) {
        let mut halves = pair.splitn(2, |unit| *unit == Unit::Plain('='));
        let name = halves.next().filter(|name| !name.is_empty())?;
        let value = Value::String(decode(halves.next().unwrap_or_default())?);
        if let Some(index) = pairs.variables.iter().position(|(known, _)| known == name) {
            values[index].push(value);
        } else if others.insert(decode(name)?, value).is_some() {
            return None;
        }
    }
    Some(Sorted { values, others })
}
