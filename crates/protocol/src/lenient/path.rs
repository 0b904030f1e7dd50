//! The path to an invalid part of a message, and removing the part.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::json_problem;

/// A step of the path to a part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Member(String),
    Element(usize),
}

/// Parses a value, or returns the position and the reason of an error.
pub(super) fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, (Vec<Step>, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut path = Vec::new();
        for segment in error.path() {
            path.push(match segment {
                Segment::Seq { index } => Step::Element(*index),
                Segment::Map { key } => Step::Member(key.clone()),
                _ => break,
            });
        }
        // A type that parses a buffered text reports positions that do not exist in the value.
        while !path.is_empty() && at(value, &path).is_none() {
            path.pop();
        }
        (path, json_problem::describe(error.inner()))
    })
}

fn at<'a>(value: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get(name),
        Step::Element(index) => value.get(index),
    })
}

/// Removes a part of a message.
pub(super) fn remove(value: &mut Value, path: &[Step]) -> Option<Value> {
    let (last, way) = path.split_last()?;
    let mut parent = value;
    for step in way {
        parent = match step {
            Step::Member(name) => parent.get_mut(name)?,
            Step::Element(index) => parent.get_mut(index)?,
        };
    }
    match (parent, last) {
        (Value::Object(members), Step::Member(name)) => members.shift_remove(name),
        (Value::Array(elements), Step::Element(index)) if *index < elements.len() => {
            Some(elements.remove(*index))
        }
        _ => None,
    }
}

/// Returns the array at a path.
pub(super) fn array_at<'a>(value: &'a mut Value, path: &[Step]) -> Option<&'a mut Vec<Value>> {
    let found = path.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get_mut(name),
        Step::Element(index) => value.get_mut(index),
    })?;
    found.as_array_mut()
}

pub(super) fn pointer(path: &[Step]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        Step::Element(index) => format!("{pointer}/{index}"),
        Step::Member(name) => format!("{pointer}/{}", escaped(name)),
    })
}

/// Escapes a name for a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// An error in an entry that is alone in its array.
pub(super) struct Fault {
    /// The path from the entry to the part; empty if it is the entry itself.
    pub(super) inner: Vec<Step>,
    pub(super) problem: String,
}

impl Fault {
    /// Returns the first error in the only entry of an array; `None` if the error is elsewhere.
    pub(super) fn of<T: DeserializeOwned>(whole: &Value, array: &[Step]) -> Option<Self> {
        let (path, problem) = attempt::<T>(whole).err()?;
        let inner = path
            .strip_prefix(array)?
            .strip_prefix(&[Step::Element(0)])?;
        Some(Self {
            inner: inner.to_vec(),
            problem,
        })
    }
}
