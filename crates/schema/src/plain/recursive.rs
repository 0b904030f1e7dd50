//! Writes a recursive type only once, under `$defs`. When types are written where they are used, schemars
//! expands a recursive type by one level before it refers to it; here these copies are replaced by references.

use serde_json::{Map, Value};

use crate::pointer;

/// Replaces every copy of a definition outside of `$defs` by a reference to it.
pub(super) fn fold(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let Some(Value::Object(definitions)) = keywords.get("$defs").cloned() else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        if keyword == "$defs" {
            // A definition must not be replaced by a reference to itself, but may contain copies of other definitions.
            for definition in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                fold_below(definition, &definitions);
            }
        } else {
            fold_value(value, &definitions);
        }
    }
}

fn fold_value(value: &mut Value, definitions: &Map<String, Value>) {
    if let Value::Object(keywords) = value
        && let Some(name) = definitions.iter().find_map(|(name, definition)| {
            is_copy(keywords, definition.as_object()?).then_some(name)
        })
    {
        let description = keywords.shift_remove("description");
        let own = description.filter(|own| Some(own) != definitions[name].get("description"));
        keywords.clear();
        keywords.extend(own.map(|own| ("description".to_owned(), own)));
        let mut reference = String::from("#/$defs");
        pointer::push(&mut reference, name);
        keywords.insert("$ref".to_owned(), reference.into());
        return;
    }
    fold_below(value, definitions);
}

fn fold_below(value: &mut Value, definitions: &Map<String, Value>) {
    match value {
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|inner| fold_value(inner, definitions));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|inner| fold_value(inner, definitions)),
        _ => {}
    }
}

/// Whether two schemas differ at most in their descriptions.
fn is_copy(keywords: &Map<String, Value>, definition: &Map<String, Value>) -> bool {
    let rules = |schema: &Map<String, Value>| {
        schema.len() - usize::from(schema.contains_key("description"))
    };
    rules(keywords) == rules(definition)
        && rules(keywords) > 0
        && keywords
            .iter()
            .filter(|(keyword, _)| *keyword != "description")
            .all(|(keyword, value)| definition.get(keyword) == Some(value))
}
