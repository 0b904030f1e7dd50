//! Reading what others send when a part of it is not what the specification says.
//!
//! One odd entry must not make a whole list unreadable. A message that is as it should be is read
//! at once, and this costs nothing. Only if that fails is it taken apart: what cannot be read is
//! left out, entry by entry, and each time a [`ReadWarning`] says what and why.

mod readable;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use self::readable::Readable;
use crate::{JsonObject, json_problem};

/// How many parts of one entry, or of a message outside of its entries, are left out. An entry with
/// more is left out as a whole.
const MAX_FIXES: usize = 16;

/// How many warnings about one message are kept.
pub(crate) const MAX_WARNINGS: usize = 100;

/// Members that change what a result means: without them it would be read as something else.
const KEPT: [&str; 6] = [
    "resultType",
    "isError",
    "inputRequests",
    "requestState",
    "task",
    "taskId",
];

/// A part of a message that is not what the specification says, and was left out or read otherwise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadWarning {
    /// The method whose answer it was in.
    pub method: String,
    /// Where it was, as a JSON pointer into the result: `/tools/3` is the fourth tool.
    pub pointer: String,
    /// The problem, and how it was handled.
    pub problem: String,
    /// The value that was found, unchanged.
    pub value: Value,
    /// The name or the URI of the entry that it was in, such as a tool, if the entry has one.
    pub entry: Option<String>,
}

/// How many characters of the name of an entry are written.
const ENTRY_SHOWN: usize = 80;

impl ReadWarning {
    /// A warning about something at a place in the answer to a method.
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

/// What an entry of a list is called, and the place in it.
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

/// What an entry of a list is named by.
fn name_of(entry: &Value) -> Option<String> {
    let names = ["name", "uri", "uriTemplate"].iter();
    let mut found = names.filter_map(|name| entry.get(name)?.as_str());
    found.next().map(str::to_owned)
}

/// Reads the answer to a method. Parts that cannot be read are left out, with a warning for each.
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
/// If it cannot be read whatever is left out; the error is that of the whole.
pub fn read<T: DeserializeOwned>(
    method: &str,
    text: &str,
) -> Result<(T, Vec<ReadWarning>), serde_json::Error> {
    match serde_json::from_str(text) {
        Ok(read) => Ok((read, Vec::new())),
        Err(error) => mend(method, text).ok_or(error),
    }
}

/// Reads an answer that could not be read as it is; `None` if it cannot be read at all.
#[cold]
pub fn mend<T: DeserializeOwned>(method: &str, text: &str) -> Option<(T, Vec<ReadWarning>)> {
    let readable = readable::members(text)?;
    let mut mender = Mender {
        method,
        warnings: Vec::new(),
        more: 0,
        holes: BTreeMap::new(),
    };
    let mut result = mender.take(readable);
    mender.add_missing(&mut result);
    mender.mend_entries::<T>(&mut result);
    let read = mender.mend_whole(result)?;
    Some((read, mender.finish()))
}

struct Mender<'a> {
    method: &'a str,
    warnings: Vec<ReadWarning>,
    /// How many more warnings there were than are kept.
    more: usize,
    /// The entries that cannot be parsed, in order, by the name of their array: there is a `null` now.
    holes: BTreeMap<String, Vec<usize>>,
}

impl Mender<'_> {
    fn warn(&mut self, pointer: String, problem: String, value: Value) {
        self.warn_of(None, pointer, problem, value);
    }

    /// Warns about something in an entry that has a name.
    fn warn_of(&mut self, entry: Option<String>, pointer: String, problem: String, value: Value) {
        if self.warnings.len() == MAX_WARNINGS {
            self.more += 1;
            return;
        }
        let warning = ReadWarning::new(self.method, pointer, problem, value);
        self.warnings.push(warning.of_entry(entry));
    }

    /// What can be parsed of a message, with warnings about the rest.
    fn take(&mut self, readable: Readable) -> JsonObject {
        if readable.had_halves {
            let problem = "half of a character (`\\ud83d` without its other half) was replaced";
            self.warn(String::new(), problem.into(), Value::Null);
        }
        for (place, problem, shown) in readable.left_out {
            self.warn(place, problem, shown);
        }
        self.more += readable.more;
        self.holes = readable.holes;
        let mut members = readable.members;
        members.values_mut().for_each(types_first);
        members
    }

    fn finish(mut self) -> Vec<ReadWarning> {
        if self.more > 0 {
            let problem = format!("{} more parts of it could not be read", self.more);
            self.warnings
                .push(ReadWarning::new(self.method, "", problem, Value::Null));
        }
        self.warnings
    }

    /// Adds required members that are often left out and whose meaning without them is plain.
    fn add_missing(&mut self, result: &mut JsonObject) {
        let is_absent = |value: Option<&Value>| value.is_none_or(Value::is_null);
        // Some languages write an empty object as an empty array.
        let is_empty = |value: Option<&Value>| {
            let elements = value.and_then(Value::as_array);
            elements.is_some_and(Vec::is_empty)
        };
        match self.method {
            "tools/list" => {
                let tools = result.get_mut("tools").and_then(Value::as_array_mut);
                for (index, tool) in tools.into_iter().flatten().enumerate() {
                    let came = tool.clone();
                    let Some(tool) = tool.as_object_mut() else {
                        continue;
                    };
                    let schema = tool.get("inputSchema");
                    let problem = match (is_absent(schema), is_empty(schema)) {
                        (true, _) => "`inputSchema` is missing; read as an object of any members",
                        (_, true) => "`inputSchema` is an array; read as an object of any members",
                        _ => continue,
                    };
                    tool.insert("inputSchema".into(), json!({ "type": "object" }));
                    let place = format!("/tools/{index}");
                    self.warn_of(name_of(&came), place, problem.into(), came);
                }
            }
            "tools/call" | "tasks/result" => {
                let is_result = !["task", "taskId", "inputRequests", "requestState"]
                    .iter()
                    .any(|name| result.contains_key(*name));
                if is_result && is_absent(result.get("content")) {
                    result.insert("content".into(), json!([]));
                    let problem = "`content` is missing; read as empty";
                    self.warn(String::new(), problem.into(), Value::Null);
                }
            }
            "initialize" => {
                for name in ["clientInfo", "serverInfo"] {
                    let info = result.get_mut(name).and_then(Value::as_object_mut);
                    let Some(info) = info.filter(|info| info.contains_key("name")) else {
                        continue;
                    };
                    let (read, problem) = match info.get("version") {
                        None | Some(Value::Null) => {
                            (String::new(), "`version` is missing; read as empty")
                        }
                        Some(Value::Number(number)) => {
                            (number.to_string(), "`version` is a number; read as text")
                        }
                        Some(_) => continue,
                    };
                    let came = Value::Object(info.clone());
                    info.insert("version".into(), read.into());
                    self.warn(format!("/{name}"), problem.into(), came);
                }
            }
            // One block may stand without its list: what cannot be read of it is left out all the same.
            "sampling/createMessage" => {
                if let Some(content) = result.get_mut("content")
                    && content.is_object()
                {
                    *content = json!([content.take()]);
                }
            }
            _ => {}
        }
    }

    /// Looks at each entry of each array by itself, so that the work grows with their number only.
    fn mend_entries<T: DeserializeOwned>(&mut self, result: &mut JsonObject) {
        for (name, member) in result.iter_mut() {
            let Value::Array(entries) = member else {
                continue;
            };
            let whole = std::mem::take(entries);
            let holes = self.holes.remove(name).unwrap_or_default();
            for (index, mut entry) in whole.into_iter().enumerate() {
                if holes.binary_search(&index).is_ok() {
                    continue;
                }
                let place = format!("/{name}/{index}");
                let alone = json!({ name: [entry.take()] });
                entries.extend(self.mend_entry::<T>(name, place, alone));
            }
        }
    }

    /// An entry, which is alone in its array, as far as it can be read; `None` if it cannot.
    fn mend_entry<T: DeserializeOwned>(
        &mut self,
        name: &str,
        place: String,
        mut alone: Value,
    ) -> Option<Value> {
        let Err((path, problem)) = attempt::<T>(&alone) else {
            return taken(alone, name);
        };
        if path.len() < 2 || path[0] != Step::Member(name.into()) {
            // What is wrong is not in here.
            return taken(alone, name);
        }
        let came = alone[name][0].clone();
        let entry = name_of(&came);
        let before = self.warnings.len();
        let first = match pointer(&path[2..]).as_str() {
            "" => problem.clone(),
            inner => format!("`{inner}`: {problem}"),
        };
        let mut fault = (path, problem);
        let mut places = Places::default();
        for _ in 0..MAX_FIXES {
            let (path, problem) = fault;
            let inner = &path[2..];
            if inner.is_empty() {
                self.warnings.truncate(before);
                self.warn_of(entry, place, format!("{first}; left out"), came);
                return None;
            }
            let removed = remove(&mut alone, &path)?;
            let pointer = format!("{place}{}", places.note_removed(inner));
            let said = format!("{problem}; left out");
            self.warn_of(entry.clone(), pointer, said, removed);
            match attempt::<T>(&alone) {
                Err(next) if next.0.len() >= 2 => fault = next,
                Ok(_) | Err(_) => return taken(alone, name),
            }
        }
        self.warnings.truncate(before);
        let problem = "too much of it cannot be read; left out";
        self.warn_of(entry, place, problem.into(), came);
        None
    }

    /// Reads a message whose entries can be read.
    fn mend_whole<T: DeserializeOwned>(&mut self, result: JsonObject) -> Option<T> {
        let mut result = Value::Object(result);
        let mut places = Places::default();
        for _ in 0..MAX_FIXES {
            let (path, problem) = match attempt::<T>(&result) {
                Ok(read) => return Some(read),
                Err(fault) => fault,
            };
            let is_kept =
                matches!(path.first(), Some(Step::Member(name)) if KEPT.contains(&&**name));
            if path.is_empty() || is_kept {
                return None;
            }
            let removed = remove(&mut result, &path)?;
            let pointer = places.note_removed(&path);
            self.warn(pointer, format!("{problem}; left out"), removed);
        }
        None
    }
}

/// Puts the type of each block of content before its other members. One that comes later is read by other
/// code, which cannot say where something is wrong.
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

/// A step on the way to a part of a message.
#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Element(usize),
}

/// Where parts were when they came: what is taken out of an array moves those that follow.
#[derive(Default)]
struct Places {
    /// The elements that were taken out: the pointer of their array, and the index that they had.
    removed: BTreeSet<(String, usize)>,
}

impl Places {
    /// The pointer that a part had when it came.
    fn original(&self, path: &[Step]) -> String {
        path.iter().fold(String::new(), |pointer, step| match step {
            Step::Element(index) => {
                let mut index = *index;
                // They are in order, so that each moves it by one.
                for (array, removed) in &self.removed {
                    if *array == pointer && *removed <= index {
                        index += 1;
                    }
                }
                format!("{pointer}/{index}")
            }
            Step::Member(name) => format!("{pointer}/{}", escaped(name)),
        })
    }

    /// Notes that a part is taken out, and gives the pointer that it had.
    fn note_removed(&mut self, path: &[Step]) -> String {
        let pointer = self.original(path);
        if let Some(Step::Element(_)) = path.last()
            && let Some((array, index)) = pointer.rsplit_once('/')
            && let Ok(index) = index.parse()
        {
            self.removed.insert((array.to_owned(), index));
        }
        pointer
    }
}

/// Reads a value, or says where it cannot be read and why.
fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, (Vec<Step>, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut path = Vec::new();
        for segment in error.path() {
            path.push(match segment {
                Segment::Seq { index } => Step::Element(*index),
                Segment::Map { key } => Step::Member(key.clone()),
                _ => break,
            });
        }
        // A type that is read from text of its own names places that are not there.
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

/// Takes a part out of a message.
fn remove(value: &mut Value, path: &[Step]) -> Option<Value> {
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

/// The only entry of an array, if it is still there.
fn taken(mut alone: Value, name: &str) -> Option<Value> {
    alone[name].as_array_mut().and_then(Vec::pop)
}

fn pointer(path: &[Step]) -> String {
    Places::default().original(path)
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
