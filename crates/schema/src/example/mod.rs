//! Builds a value that satisfies a schema. It uses `examples`, `default`, `const` and `enum` if the schema has
//! them, and contains the required members and little else.

mod builder;
mod scalar;

pub(crate) use builder::Builder;
use serde_json::Value;

use crate::check::Place;
use crate::limits::MAX_EXAMPLE_TRIES;
use crate::node::NodeId;
use crate::schema::Schema;

/// Builds a valid example for a schema document. Returns `None` if the document is not a valid schema, or if no
/// example was found.
pub fn example(schema: &Value) -> Option<Value> {
    Schema::compile(schema).ok()?.example()
}

impl Schema {
    /// Builds a value that satisfies this schema, and checks it against the schema. Returns `None` if no value is
    /// found by simple means.
    pub fn example(&self) -> Option<Value> {
        // All attempts share one budget, so that a schema that is costly on purpose is not paid for again and again.
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
