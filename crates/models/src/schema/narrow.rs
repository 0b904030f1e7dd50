//! Reduces a schema to the keywords that an API accepts, and records each loss.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::merge::{Combined, merge, names};
use super::undo::Undo;
use super::{openapi, reference, well_formed};
use crate::name::fitting;

/// At most 10,000 subschemas: inlined references can make a small schema very large.
const MAX_NODES: usize = 10_000;

/// At most 96 nested schemas of any kind, because the stack is finite.
const MAX_LEVELS: usize = 96;

/// Keywords that have no meaning once references are inlined.
const IDENTIFIERS: [&str; 8] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$vocabulary",
    "$defs",
    "definitions",
];

/// A schema in a form that an API accepts.
#[derive(Debug)]
pub(crate) struct Narrowed {
    /// The schema.
    pub(crate) schema: Map<String, Value>,
    /// Converts arguments for it into arguments for the original schema.
    pub(crate) undo: Undo,
    /// The changes: the position as a JSON pointer, and a description.
    pub(crate) changes: Vec<(String, String)>,
}

/// Rewrites the schema of a tool's arguments.
pub(crate) fn narrow(schema: &Map<String, Value>, dialect: &'static Dialect) -> Narrowed {
    let document = Value::Object(schema.clone());
    let mut work = Work {
        document: &document,
        dialect,
        changes: Vec::new(),
        nodes: 0,
        levels: 0,
        following: Vec::new(),
    };
    let root = work.root();
    let (schema, undo) = work.members(&root, "", 0);
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    Narrowed {
        schema,
        undo,
        changes: work.changes,
    }
}

pub(super) struct Work<'d> {
    document: &'d Value,
    pub(super) dialect: &'static Dialect,
    changes: Vec<(String, String)>,
    nodes: usize,
    levels: usize,
    /// The references that are being inlined.
    following: Vec<String>,
}

impl Work<'_> {
    pub(super) fn note(&mut self, at: &str, what: impl Into<String>) {
        self.changes.push((at.to_owned(), what.into()));
    }

    /// Rewrites the root, which must be an object without the keywords that are not allowed there.
    fn root(&mut self) -> Map<String, Value> {
        let mut root = self.expanded(self.document);
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let is_refused = self.dialect.not_at_root.contains(&keyword)
                || (self.dialect.is_openapi() && keyword != "anyOf");
            if !is_refused {
                continue;
            }
            if let Some(Value::Array(parts)) = root.shift_remove(keyword) {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| Value::Object(self.expanded(part)))
                    .collect();
                let combined = if keyword == "allOf" {
                    Combined::All
                } else {
                    Combined::Any
                };
                merge(&mut root, &parts, combined);
                self.note(
                    "",
                    format!("`{keyword}` at the root merged into one object"),
                );
            }
        }
        for keyword in ["enum", "const", "not"] {
            let is_refused = self.dialect.not_at_root.contains(&keyword);
            if is_refused && root.shift_remove(keyword).is_some() {
                self.note("", format!("`{keyword}` at the root left out"));
            }
        }
        if root.get("type").and_then(Value::as_str) != Some("object") {
            root.insert("type".to_owned(), "object".into());
        }
        root
    }

    /// The members of a schema or, if it is a reference, of its target.
    pub(super) fn expanded(&self, schema: &Value) -> Map<String, Value> {
        let mut members = schema.as_object().cloned().unwrap_or_default();
        // A longer chain must be a cycle.
        for _ in 0..MAX_LEVELS {
            let target = members
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|target| reference::resolve(self.document, target))
                .and_then(Value::as_object);
            let Some(target) = target else { break };
            members = reference::beside(target, &members);
            if target.get("$ref").is_some() {
                members.insert("$ref".to_owned(), target["$ref"].clone());
            }
        }
        // A remaining reference is part of a cycle, or leads out of the document.
        members.shift_remove("$ref");
        members
    }

    /// Rewrites any subschema.
    pub(super) fn schema(&mut self, schema: &Value, at: &str, depth: usize) -> (Value, Undo) {
        self.nodes += 1;
        if self.nodes == MAX_NODES {
            self.note(
                at,
                format!("cut off: the schema has more than {MAX_NODES} parts"),
            );
        }
        if self.nodes >= MAX_NODES || self.levels >= MAX_LEVELS {
            return self.any("");
        }
        let Some(members) = schema.as_object() else {
            return self.any("");
        };
        self.levels += 1;
        let rewritten = self.object(members, at, depth);
        self.levels -= 1;
        rewritten
    }

    fn object(&mut self, members: &Map<String, Value>, at: &str, depth: usize) -> (Value, Undo) {
        let Some(target) = members.get("$ref").and_then(Value::as_str) else {
            return self.members(members, at, depth);
        };
        let description = description(members);
        if self.following.iter().any(|followed| followed == target) {
            self.note(
                at,
                format!("recursion through `{target}` cut off; any value is allowed"),
            );
            return self.any(description);
        }
        let Some(found) = reference::resolve(self.document, target) else {
            self.note(
                at,
                format!("`$ref` to `{target}` left out; it is not in the schema"),
            );
            let mut rest = members.clone();
            rest.shift_remove("$ref");
            return self.members(&rest, at, depth);
        };
        let Some(found) = found.as_object() else {
            return self.any(description);
        };
        let mut all = reference::beside(found, members);
        if let Some(next) = found.get("$ref") {
            all.insert("$ref".to_owned(), next.clone());
        }
        self.following.push(target.to_owned());
        let rewritten = self.schema(&Value::Object(all), at, depth);
        self.following.pop();
        rewritten
    }

    /// A schema that allows any value.
    pub(super) fn any(&self, description: &str) -> (Value, Undo) {
        if self.dialect.is_openapi() {
            return openapi::json_text(description);
        }
        let schema = match description {
            "" => json!({}),
            description => json!({"description": description}),
        };
        (schema, Undo::default())
    }

    fn members(&mut self, members: &Map<String, Value>, at: &str, depth: usize) -> (Value, Undo) {
        let is_deep = ["properties", "items", "prefixItems"]
            .iter()
            .any(|keyword| members.contains_key(*keyword));
        if is_deep && depth >= self.dialect.max_depth {
            let limit = self.dialect.max_depth;
            self.note(
                at,
                format!("deeper than {limit} levels; any value is allowed"),
            );
            return self.any(description(members));
        }
        let mut own = members.clone();
        for keyword in IDENTIFIERS {
            own.shift_remove(keyword);
        }
        if own.shift_remove("$dynamicRef").is_some() {
            self.note(at, "`$dynamicRef` left out");
        }
        for change in well_formed::make(&mut own) {
            self.note(at, change);
        }
        self.tuple(&mut own, at);
        if self.dialect.is_openapi() {
            openapi::convert(self, &mut own, at);
        }
        let mut undo = Undo::default();
        if let Some(Value::Object(properties)) = own.get("properties") {
            let properties = self.properties(&properties.clone(), at, depth, &mut undo);
            let required = names(own.get("required"));
            own.insert("properties".to_owned(), properties);
            if let Some(own) = own.get_mut("required") {
                *own = renamed(&required, &undo);
            }
        }
        for (keyword, value) in &mut own {
            if keyword != "properties" {
                self.keyword(keyword, value, at, depth, &mut undo);
            }
        }
        if self.dialect.is_openapi() {
            return openapi::finish(own, undo, depth == 0);
        }
        complete(&mut own);
        (Value::Object(own), undo)
    }

    /// `items` as an array, which was allowed until draft 2019-09.
    fn tuple(&mut self, own: &mut Map<String, Value>, at: &str) {
        if let Some(Value::Array(_)) = own.get("items") {
            let items = own.shift_remove("items").unwrap_or_default();
            own.insert("prefixItems".to_owned(), items);
        }
        let has_items = own.get("items").is_some_and(Value::is_object);
        if let Some(Value::Array(items)) = own.get("prefixItems")
            && !has_items
        {
            let items = json!({"anyOf": items});
            own.insert("items".to_owned(), items);
            own.shift_remove("prefixItems");
            self.note(at, "the order of `prefixItems` left out");
        }
    }

    fn properties(
        &mut self,
        properties: &Map<String, Value>,
        at: &str,
        depth: usize,
        undo: &mut Undo,
    ) -> Value {
        let mut all = Map::new();
        for (name, schema) in properties {
            let here = format!("{at}/properties/{}", escaped(name));
            if *schema == Value::Bool(false) {
                self.note(&here, "left out; no value is allowed");
                continue;
            }
            let known = match &self.dialect.property_names {
                Some(rule) if !rule.accepts(name) => {
                    let known = fitting(name, rule, |taken| {
                        all.contains_key(taken) || properties.contains_key(taken)
                    });
                    self.note(&here, format!("renamed to `{known}`"));
                    undo.names.insert(known.clone(), name.clone());
                    known
                }
                _ => name.clone(),
            };
            let (schema, inside) = self.schema(schema, &here, depth + 1);
            if let Some(inside) = inside.some() {
                undo.properties.insert(known.clone(), inside);
            }
            all.insert(known, schema);
        }
        Value::Object(all)
    }

    /// Rewrites the subschemas of a keyword.
    fn keyword(&mut self, name: &str, value: &mut Value, at: &str, depth: usize, undo: &mut Undo) {
        let here = format!("{at}/{name}");
        match (name, &mut *value) {
            ("items", Value::Object(_) | Value::Bool(_)) => {
                let (items, inside) = self.schema(value, &here, depth + 1);
                undo.items = inside.some().map(Box::new);
                *value = items;
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    let (rewritten, inside) =
                        self.schema(schema, &format!("{here}/{index}"), depth);
                    undo.add(inside);
                    *schema = rewritten;
                }
            }
            (
                "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                Value::Object(_),
            ) => *value = self.schema(value, &here, depth + 1).0,
            ("patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                for (pattern, schema) in schemas.iter_mut() {
                    let here = format!("{here}/{}", escaped(pattern));
                    *schema = self.schema(schema, &here, depth + 1).0;
                }
            }
            _ => {}
        }
    }
}

/// Adds what OpenAI requires: an object has `properties`, and an array has `items`.
fn complete(schema: &mut Map<String, Value>) {
    let is = |kind: &str| match schema.get("type") {
        Some(Value::String(given)) => given == kind,
        Some(Value::Array(given)) => given.iter().any(|given| given == kind),
        _ => false,
    };
    let (is_object, is_array) = (is("object"), is("array"));
    if is_object {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    if is_array {
        schema.entry("items").or_insert_with(|| json!({}));
    }
}

fn renamed(required: &[String], undo: &Undo) -> Value {
    let known = |name: &String| {
        let known = undo.names.iter().find(|(_, original)| *original == name);
        known.map_or_else(|| name.clone(), |(known, _)| known.clone())
    };
    required.iter().map(known).collect()
}

fn description(members: &Map<String, Value>) -> &str {
    let description = members.get("description").and_then(Value::as_str);
    description.unwrap_or_default()
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
