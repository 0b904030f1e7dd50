//! Reads messages that partly break the specification.
//!
//! A single invalid entry must not make a whole list unreadable. A valid message is parsed directly,
//! without any cost. Only if that fails, the message is taken apart: invalid parts are left out, entry
//! by entry, with a [`ReadWarning`] for each.

mod capabilities;
mod missing;
mod path;
mod readable;

use std::{collections::BTreeMap, fmt};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::{
    path::{Fault, Step, array_at, attempt, escaped, pointer, remove},
    readable::Readable,
};
use crate::JsonObject;

/// How many parts are left out of one entry, or of the message outside of its entries. An entry with
/// more invalid parts is left out as a whole. An array inside an entry counts once, however many of its
/// elements are left out.
const MAX_FIXES: usize = 16;

/// The limit on bytes that are parsed again to check each entry of an array separately: the number of
/// entries times the size of the surrounding message. It takes less than a second.
const MAX_WORK: usize = 32 * 1024 * 1024;

/// How many warnings about one message are kept.
pub(crate) const MAX_WARNINGS: usize = 100;

/// Members that change the meaning of a result. They are never left out.
const KEPT: [&str; 6] = [
    "resultType",
    "isError",
    "inputRequests",
    "requestState",
    "task",
    "taskId",
];

/// A part of a message that breaks the specification, and was left out or read differently.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadWarning {
    /// The method whose answer contained it.
    pub method: String,
    /// The position, as a JSON pointer into the result: `/tools/3` is the fourth tool.
    pub pointer: String,
    /// The problem, and how it was handled.
    pub problem: String,
    /// The value that was found, unchanged.
    pub value: Value,
    /// The name or the URI of its entry, such as a tool, if the entry has one.
    pub entry: Option<String>,
}

/// How many characters of the name of an entry are shown.
const ENTRY_SHOWN: usize = 80;

impl ReadWarning {
    /// Creates a warning for a position in the answer to a method.
    pub fn new(
        method: impl Into<String>,
        pointer: impl Into<String>,
        problem: impl Into<String>,
        value: Value,
    ) -> Self {
        Self {
            method: method.into(),
            pointer: pointer.into(),
            problem: problem.into(),
            value,
            entry: None,
        }
    }

    fn of_entry(mut self, entry: Option<String>) -> Self {
        self.entry = entry;
        self
    }
}

impl fmt::Display for ReadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, problem) = (&self.method, &self.problem);
        if let (Some(entry), Some((kind, inner))) = (&self.entry, entry_place(&self.pointer)) {
            let entry: String = entry.escape_debug().take(ENTRY_SHOWN).collect();
            if !inner.is_empty() {
                write!(f, "`{inner}` of ")?;
            }
            return write!(f, "{kind} `{entry}` in the answer to `{method}`: {problem}");
        }
        match self.pointer.as_str() {
            "" => write!(f, "the answer to `{method}`: {problem}"),
            pointer => write!(f, "`{pointer}` in the answer to `{method}`: {problem}"),
        }
    }
}

/// Returns the kind of a list's entry, and the position inside of the entry.
fn entry_place(pointer: &str) -> Option<(&'static str, &str)> {
    let (list, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    let kind = match list {
        "tools" => "tool",
        "prompts" => "prompt",
        "resources" => "resource",
        "resourceTemplates" => "resource template",
        _ => return None,
    };
    let inner = rest.find('/').map_or("", |end| &rest[end..]);
    Some((kind, inner))
}

/// Returns the name of a list's entry.
fn name_of(entry: &Value) -> Option<String> {
    let names = ["name", "uri", "uriTemplate"].iter();
    let mut found = names.filter_map(|name| entry.get(name)?.as_str());
    found.next().map(str::to_owned)
}

/// Reads the answer to a method. Invalid parts are left out, with a warning for each.
///
/// ```
/// use turnbuckle_protocol::{ListToolsResult, lenient};
///
/// let text = r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":7}]}"#;
/// let (listed, warnings) = lenient::read::<ListToolsResult>("tools/list", text)?;
/// assert_eq!(listed.tools.len(), 1);
/// assert_eq!(warnings[0].pointer, "/tools/1");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// Fails if leaving out parts does not help. The error is that of the whole answer.
pub fn read<T: DeserializeOwned>(
    method: &str,
    text: &str,
) -> Result<(T, Vec<ReadWarning>), serde_json::Error> {
    match serde_json::from_str(text) {
        Ok(read) => Ok((read, Vec::new())),
        Err(error) => mend(method, text).ok_or(error),
    }
}

/// Reads an answer that is invalid as a whole. Returns `None` if it cannot be read at all.
#[cold]
pub fn mend<T: DeserializeOwned>(method: &str, text: &str) -> Option<(T, Vec<ReadWarning>)> {
    let readable = readable::members(text)?;
    let mut reader = LenientReader {
        method,
        warnings: Vec::new(),
        more: 0,
        unparsed: BTreeMap::new(),
    };
    let mut result = reader.take(readable);
    reader.add_missing(&mut result);
    reader.mend_entries::<T>(&mut result);
    let read = reader.mend_whole(result)?;
    Some((read, reader.finish()))
}

/// Returns the members of an object that can be parsed, if the whole cannot be.
pub(crate) fn readable_members(text: &str) -> Option<JsonObject> {
    readable::members(text).map(|readable| readable.members)
}

/// Takes one message apart, leaves its invalid parts out, and collects a warning for each.
struct LenientReader<'a> {
    method: &'a str,
    warnings: Vec<ReadWarning>,
    /// The number of further warnings, which were not stored.
    more: usize,
    /// The entries that cannot be parsed and were replaced by `null`, in order, by the name of their
    /// array.
    unparsed: BTreeMap<String, Vec<usize>>,
}

impl LenientReader<'_> {
    fn warn(&mut self, pointer: String, problem: String, value: Value) {
        self.warn_of(None, pointer, problem, value);
    }

    /// Adds a warning about a part of an entry with a name.
    fn warn_of(&mut self, entry: Option<String>, pointer: String, problem: String, value: Value) {
        if self.warnings.len() == MAX_WARNINGS {
            self.more += 1;
            return;
        }
        let warning = ReadWarning::new(self.method, pointer, problem, value);
        self.warnings.push(warning.of_entry(entry));
    }

    /// Takes the parsed members of a message, and adds warnings about the others.
    fn take(&mut self, readable: Readable) -> JsonObject {
        if readable.had_halves {
            let problem = "half of a character (`\\ud83d` without its other half) was replaced";
            self.warn(String::new(), problem.into(), Value::Null);
        }
        for (place, problem, shown) in readable.left_out {
            self.warn(place, problem, shown);
        }
        self.more += readable.more;
        self.unparsed = readable.unparsed;
        let mut members = readable.members;
        members.values_mut().for_each(types_first);
        members
    }

    fn finish(mut self) -> Vec<ReadWarning> {
        if self.more > 0 {
            let problem = format!("{} more of its parts could not be read", self.more);
            self.warnings
                .push(ReadWarning::new(self.method, "", problem, Value::Null));
        }
        self.warnings
    }

    /// Checks each entry of each array separately, so that the work grows linearly with their number.
    fn mend_entries<T: DeserializeOwned>(&mut self, result: &mut JsonObject) {
        for (name, member) in result.iter_mut() {
            if let Value::Array(entries) = member {
                let array = [Step::Member(name.clone())];
                let unparsed = self.unparsed.remove(name).unwrap_or_default();
                let mut alone = json!({ name: std::mem::take(entries) });
                let place = format!("/{}", escaped(name));
                self.remove_invalid::<T>(&mut alone, &array, &place, &unparsed, None);
                *entries = alone
                    .get_mut(name)
                    .and_then(Value::as_array_mut)
                    .map(std::mem::take)
                    .unwrap_or_default();
            }
        }
    }

    /// Removes invalid elements from the array at a path. `place` is its position in the original
    /// message. Its elements at `unparsed` could not be parsed.
    fn remove_invalid<T: DeserializeOwned>(
        &mut self,
        whole: &mut Value,
        array: &[Step],
        place: &str,
        unparsed: &[usize],
        entry: Option<&str>,
    ) {
        let Some(entries) = array_at(whole, array) else {
            return;
        };
        let entries = std::mem::take(entries);
        let around = whole.to_string().len();
        if entries.len().saturating_mul(around) > MAX_WORK {
            let problem = "too much of it cannot be read; left out";
            return self.warn(place.to_owned(), problem.into(), Value::Null);
        }
        let mut kept = Vec::with_capacity(entries.len());
        for (index, element) in entries.into_iter().enumerate() {
            if unparsed.binary_search(&index).is_ok() {
                continue;
            }
            let place = format!("{place}/{index}");
            if let Some(array) = array_at(whole, array) {
                array.push(element);
            }
            if self.mend_entry::<T>(whole, array, &place, entry) {
                kept.extend(array_at(whole, array).and_then(Vec::pop));
            }
            if let Some(array) = array_at(whole, array) {
                array.clear();
            }
        }
        if let Some(array) = array_at(whole, array) {
            *array = kept;
        }
    }

    /// Removes invalid parts from an entry, which is alone in its array. Returns whether the entry is
    /// valid then.
    fn mend_entry<T: DeserializeOwned>(
        &mut self,
        whole: &mut Value,
        array: &[Step],
        place: &str,
        entry: Option<&str>,
    ) -> bool {
        let Some(mut fault) = Fault::of::<T>(whole, array) else {
            return true;
        };
        let came = array_at(whole, array).and_then(|array| array.first().cloned());
        let came = came.unwrap_or_default();
        let entry = entry.map(str::to_owned).or_else(|| name_of(&came));
        let before = (self.warnings.len(), self.more);
        let first = match pointer(&fault.inner).as_str() {
            "" => fault.problem.clone(),
            inner => format!("`{inner}`: {}", fault.problem),
        };
        for _ in 0..MAX_FIXES {
            if fault.inner.is_empty()
                || !self.leave_out::<T>(whole, array, place, &fault, entry.as_deref())
            {
                (_, self.more) = before;
                self.warnings.truncate(before.0);
                self.warn_of(entry, place.to_owned(), format!("{first}; left out"), came);
                return false;
            }
            match Fault::of::<T>(whole, array) {
                Some(next) => fault = next,
                None => return true,
            }
        }
        (_, self.more) = before;
        self.warnings.truncate(before.0);
        let problem = "too much of it cannot be read; left out";
        self.warn_of(entry, place.to_owned(), problem.into(), came);
        false
    }

    /// Removes the part of an entry that a fault names, or all invalid elements of the array that
    /// contains it. Returns whether there was such a part.
    fn leave_out<T: DeserializeOwned>(
        &mut self,
        whole: &mut Value,
        array: &[Step],
        place: &str,
        fault: &Fault,
        entry: Option<&str>,
    ) -> bool {
        let is_element = |step: &Step| matches!(step, Step::Element(_));
        let path = [array, &[Step::Element(0)]].concat();
        if let Some(end) = fault.inner.iter().position(is_element) {
            let inner = &fault.inner[..end];
            let place = format!("{place}{}", pointer(inner));
            self.remove_invalid::<T>(whole, &[&path, inner].concat(), &place, &[], entry);
            return true;
        }
        let path = [&path, &*fault.inner].concat();
        let Some(removed) = remove(whole, &path) else {
            return false;
        };
        let pointer = format!("{place}{}", pointer(&fault.inner));
        let said = format!("{}; left out", fault.problem);
        self.warn_of(entry.map(str::to_owned), pointer, said, removed);
        true
    }

    /// Reads a message whose entries are valid.
    fn mend_whole<T: DeserializeOwned>(&mut self, result: JsonObject) -> Option<T> {
        let mut result = Value::Object(result);
        for _ in 0..MAX_FIXES {
            let (path, problem) = match attempt::<T>(&result) {
                Ok(read) => return Some(read),
                Err(fault) => fault,
            };
            let Some(Step::Member(first)) = path.first() else {
                return None;
            };
            if KEPT.contains(&&**first) {
                return None;
            }
            let is_element = |step: &Step| matches!(step, Step::Element(_));
            if let Some(end) = path.iter().position(is_element) {
                // Checked alone, so that each attempt parses as little as possible.
                let member = result.get_mut(first).map(Value::take)?;
                let mut alone = json!({ first: member });
                self.remove_invalid::<T>(
                    &mut alone,
                    &path[..end],
                    &pointer(&path[..end]),
                    &[],
                    None,
                );
                result[first] = alone[first].take();
                continue;
            }
            let removed = remove(&mut result, &path)?;
            self.warn(pointer(&path), format!("{problem}; left out"), removed);
        }
        None
    }
}

/// Moves the type of each content block before its other members. With a later type, serde reads the
/// block through a buffer, which cannot report the position of an error.
fn types_first(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(types_first),
        Value::Object(members) => {
            if let Some(kind) = members.shift_remove("type") {
                members.shift_insert(0, "type".to_owned(), kind);
            }
            members.values_mut().for_each(types_first);
        }
        _ => {}
    }
}
