//! Reads what a model probably meant. Models send `"5"` for 5, `"true"` for true, an object as its
//! JSON text, `null` for "not given", and one value where a list of them is wanted.
//! [`Schema::coerce`](crate::Schema::coerce) mends these where the schema leaves no doubt, and
//! changes nothing that the schema already accepts.

mod mender;
mod scalar;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::check::Place;
use crate::node::NodeId;
use crate::schema::Schema;

/// One value that was read as another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coercion {
    /// JSON pointer of the value.
    pub pointer: String,
    /// The value that came: `a string`.
    pub from: &'static str,
    /// What it was changed to: `an integer`, or `absent` for a `null` that was removed.
    pub to: &'static str,
}

/// What [`Schema::coerce`](crate::Schema::coerce) changed, in the order it did.
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
    /// Mends a value in place where it is plain what was meant.
    ///
    /// - a string to an integer, number or boolean, where one is wanted and the text is exactly
    ///   that;
    /// - a number or boolean to a string, where a string is wanted;
    /// - a string that is the JSON text of a wanted object or array to that object or array;
    /// - a scalar to an array of one, where an array of such is wanted;
    /// - `null` to nothing, for a property that is not required and may not be `null`;
    /// - `5.0` to `5` where an integer is wanted. The two are the same value to the schema, but not
    ///   to Rust.
    ///
    /// Integers stay exact: text of an integer beyond 64 bits is left alone. Apart from `5.0`, a
    /// value that the schema accepts is never changed. A value that cannot be mended in full is
    /// mended as far as it goes, so that [`check`](Self::check) then speaks of the rest alone.
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
        let mut mender = mender::Mender::new(self.run());
        mender.mend(NodeId::ROOT, value, &Place::ROOT);
        Coercions(mender.into_made())
    }
}
