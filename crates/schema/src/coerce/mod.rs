//! Corrects arguments to what a model probably meant. Models send `"5"` for 5, `"true"` for true, the JSON
//! text of an object instead of the object, `null` for "not given", and one value instead of a list.
//! [`Schema::coerce`](crate::Schema::coerce) corrects these if the schema leaves no doubt, and
//! never changes a value that the schema already accepts, except that `5.0` becomes `5`.

mod corrector;
mod scalar;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::check::Place;
use crate::node::NodeId;
use crate::schema::Schema;

/// One value that was converted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coercion {
    /// JSON pointer of the value.
    pub pointer: String,
    /// The kind of the value that was sent: `a string`.
    pub from: &'static str,
    /// The kind that it was converted to: `an integer`, or `absent` for a `null` that was removed.
    pub to: &'static str,
}

/// The changes that [`Schema::coerce`](crate::Schema::coerce) made, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
#[must_use = "whether anything was changed is worth a line in the log"]
pub struct Coercions(Vec<Coercion>);

impl Coercions {
    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many values were changed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The changes.
    pub fn iter(&self) -> std::slice::Iter<'_, Coercion> {
        self.0.iter()
    }
}

impl<'c> IntoIterator for &'c Coercions {
    type Item = &'c Coercion;
    type IntoIter = std::slice::Iter<'c, Coercion>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "the value"
        } else {
            &self.pointer
        };
        write!(f, "{place}: {} read as {}", self.from, self.to)
    }
}

impl fmt::Display for Coercions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, coercion) in self.iter().enumerate() {
            f.write_str(if position > 0 { "; " } else { "" })?;
            coercion.fmt(f)?;
        }
        Ok(())
    }
}

impl Schema {
    /// Corrects a value in place if it is clear what was meant. Returns the changes.
    ///
    /// - a string becomes an integer, number or boolean if the schema expects one and the text is exactly
    ///   that;
    /// - a number or boolean becomes a string if the schema expects a string;
    /// - a string that is the JSON text of an expected object or array becomes that object or array;
    /// - a scalar becomes an array of one item if the schema expects an array of such items;
    /// - `null` is removed for a property that is not required and may not be `null`;
    /// - `5.0` becomes `5` if the schema expects an integer. The two are the same value for the schema, but not
    ///   for Rust.
    ///
    /// Integers stay exact: the text of an integer beyond 64 bits is left unchanged. Apart from `5.0`, a
    /// value that the schema accepts is never changed. A value that cannot be corrected completely is
    /// corrected as far as possible, so that [`check`](Self::check) then only reports the rest.
    ///
    /// ```
    /// use serde_json::json;
    /// use turnbuckle_schema::Schema;
    ///
    /// let schema = Schema::compile(&json!({ "properties": { "row": { "type": "integer" } } }))?;
    /// let mut arguments = json!({ "row": "7" });
    /// let coercions = schema.coerce(&mut arguments);
    /// assert_eq!(arguments, json!({ "row": 7 }));
    /// assert_eq!(coercions.to_string(), "/row: a string read as an integer");
    /// # Ok::<(), turnbuckle_schema::SchemaError>(())
    /// ```
    pub fn coerce(&self, value: &mut Value) -> Coercions {
        let mut corrector = corrector::Corrector::new(self.run());
        corrector.mend(NodeId::ROOT, value, &Place::ROOT);
        Coercions(corrector.into_made())
    }
}
