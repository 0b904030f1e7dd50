//! The values found so far, and the rules that each must pass.

use serde_json::{Map, Value};

use super::encode::Allow;
use super::traversal::{Paths, is_contained};

/// The values of a template's variables, by name: strings, lists of strings, objects of strings.
pub type Variables = Map<String, Value>;

/// The values found so far. If a value is rejected, the whole URI does not match.
pub(super) struct Bindings {
    paths: Paths,
    bound: Vec<Bound>,
    /// The names of variables that the URI leaves out in one place, so that they must not have a value in another.
    absent: Vec<String>,
}

/// The value of one variable, and how many of its characters the template shows at most.
struct Bound {
    name: String,
    value: Value,
    limit: usize,
}

impl Bindings {
    pub(super) fn new(paths: Paths) -> Self {
        Self {
            paths,
            bound: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Binds a value of which the template shows at most `limit` characters. `allow` says which characters the
    /// URI could contain there. `None` if the value leads out of its folder, or if the variable has another
    /// value already.
    pub(super) fn bind(
        &mut self,
        name: &str,
        value: Value,
        allow: Allow,
        limit: usize,
    ) -> Option<()> {
        if self.paths == Paths::Contained && !stays_inside(&value, allow) {
            return None;
        }
        if let Some(bound) = self.bound.iter_mut().find(|bound| bound.name == name) {
            return bound.agree(value, limit);
        }
        if self.absent.iter().any(|absent| absent == name) {
            return None;
        }
        let name = name.to_owned();
        self.bound.push(Bound { name, value, limit });
        Some(())
    }

    /// Notes that the URI leaves out a variable here. `None` if the variable has a value in another place, because that
    /// value would then appear here too.
    pub(super) fn leave_out(&mut self, name: &str) -> Option<()> {
        if self.bound.iter().any(|bound| bound.name == name) {
            return None;
        }
        self.absent.push(name.to_owned());
        Some(())
    }

    /// All values, in the order of the template.
    pub(super) fn finish(self) -> Variables {
        self.bound
            .into_iter()
            .map(|bound| (bound.name, bound.value))
            .collect()
    }
}

impl Bound {
    /// Merges a second value of the same variable, if both can be parts of the same value.
    fn agree(&mut self, value: Value, limit: usize) -> Option<()> {
        if self.value == value {
            self.limit = self.limit.max(limit);
            return Some(());
        }
        let (Value::String(first), Value::String(second)) = (&self.value, &value) else {
            return None;
        };
        if is_cut_from(first, self.limit, second) {
            self.value = value;
            self.limit = limit;
            return Some(());
        }
        is_cut_from(second, limit, first).then_some(())
    }
}

/// Whether `prefix` is the first `limit` characters of `whole`.
fn is_cut_from(prefix: &str, limit: usize, whole: &str) -> bool {
    whole.starts_with(prefix) && prefix.chars().count() == limit
}

fn stays_inside(value: &Value, allow: Allow) -> bool {
    match value {
        Value::String(text) => is_contained(text, allow),
        Value::Array(members) => members.iter().all(|member| stays_inside(member, allow)),
        Value::Object(members) => members
            .iter()
            .all(|(name, member)| is_contained(name, allow) && stays_inside(member, allow)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(values: &[(&str, usize)]) -> Option<Variables> {
        let mut bindings = Bindings::new(Paths::Contained);
        for (value, limit) in values {
            bindings.bind("a", Value::from(*value), Allow::Unreserved, *limit)?;
        }
        Some(bindings.finish())
    }

    #[test]
    fn a_prefix_agrees_with_what_it_is_cut_from() {
        let whole = usize::MAX;
        for values in [
            [("v", 1), ("value", whole)],
            [("value", whole), ("v", 1)],
            [("value", whole), ("value", 9)],
            [("va", 2), ("value", 5)],
        ] {
            let variables = bound(&values).expect("the values agree");
            assert_eq!(variables["a"], "value", "{values:?}");
        }
        for values in [
            [("w", 1), ("value", whole)],
            [("v", 2), ("value", whole)],
            [("v", whole), ("value", whole)],
            [("value", whole), ("val", whole)],
        ] {
            assert_eq!(bound(&values), None, "{values:?}");
        }
    }
}
