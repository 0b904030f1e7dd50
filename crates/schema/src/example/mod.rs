//! A value that satisfies a schema, made up from what the schema says. It honours `examples`,
//! `default`, `const` and `enum` before it invents anything, and contains what is required and
//! little else.

mod builder;
mod scalar;

pub(crate) use builder::Builder;
use serde_json::Value;

use crate::check::Place;
use crate::limits::MAX_EXAMPLE_TRIES;
use crate::node::NodeId;
use crate::schema::Schema;

/// A valid example for a schema document; `None` if the document is not a valid schema, or if no
/// example was found.
pub fn example(schema: &Value) -> Option<Value> {
    Schema::compile(schema).ok()?.example()
}

impl Schema {
    /// A value that satisfies this schema, if one is found by simple means. The value has been
    /// checked against the schema.
    pub fn example(&self) -> Option<Value> {
        // One budget for all attempts, so that a schema made to be costly is not paid for again and
        // again.
        let mut run = self.run();
        for attempt in 0..MAX_EXAMPLE_TRIES {
            let mut builder = Builder::new(&mut run, attempt);
            let built = builder.build_for(NodeId::ROOT);
            let was_last = builder.was_last();
            let is_valid = |value: &Value| run.holds(NodeId::ROOT, value, &Place::ROOT);
            let valid = built.filter(is_valid);
            if run.limit().is_some() {
                break;
            }
            if valid.is_some() {
                return valid;
            }
            if was_last {
                break;
            }
        }
        None
    }
}
