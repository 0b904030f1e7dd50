//! Compiles every schema that can be reached from the document's root to a node. It keeps a list of remaining schemas
//! instead of recursing, so that neither depth nor references can exhaust the stack.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cycle;
use super::index::{Index, Scope, Target};
use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::format::Formats;
use crate::kind::Kinds;
use crate::limits::MAX_PATTERNS;
use crate::node::{
    ArrayRules, InPlace, Node, NodeId, NumberRules, ObjectRules, TextRules, Unevaluated,
};
use crate::pattern::{self, Pattern};
use crate::pointer::measure;
use crate::settings::Settings;

/// How many example values are kept of one schema; one good value is enough.
const MAX_SAMPLES: usize = 4;

/// The result of compilation.
pub(crate) struct Compiled {
    pub(crate) nodes: Box<[Node]>,
    pub(crate) dialect: Dialect,
    pub(crate) has_dynamic_references: bool,
}

pub(crate) fn compile(
    root: &Value,
    settings: Settings,
    compile_pattern: pattern::Compile,
) -> Result<Compiled, SchemaError> {
    measure(root)?;
    let index = Index::of(root, settings.dialect)?;
    let scope = index.scope(root);
    let mut compiler = Compiler {
        index,
        formats: settings.formats,
        schemas: Vec::new(),
        numbers: HashMap::new(),
        patterns: HashMap::new(),
        compile_pattern,
        current: root,
        scope,
        has_dynamic_references: false,
    };
    compiler.node(root);
    let mut nodes = Vec::new();
    // Compiling a schema may add further schemas to the end of the list.
    while let Some(schema) = compiler.schemas.get(nodes.len()).copied() {
        nodes.push(compiler.compile_one(schema)?);
    }
    if let Some(node) = cycle::find(&nodes) {
        let pointer = compiler.index.pointer(compiler.schemas[node.position()]);
        return Err(SchemaError::EndlessReference { pointer });
    }
    let has_dynamic_references = compiler.has_dynamic_references;
    if !has_dynamic_references {
        // A dynamic reference depends on the entered resources, so no node may be skipped if there is one.
        skip_aliases(&mut nodes);
    }
    nodes.iter_mut().for_each(Node::settle);
    Ok(Compiled {
        nodes: nodes.into(),
        dialect: scope.dialect,
        has_dynamic_references,
    })
}

pub(crate) struct Compiler<'s> {
    index: Index<'s>,
    formats: Formats,
    /// The schemas that have a number, in the order of their numbers.
    schemas: Vec<&'s Value>,
    numbers: HashMap<*const Value, NodeId>,
    patterns: HashMap<&'s str, Arc<Pattern>>,
    compile_pattern: pattern::Compile,
    current: &'s Value,
    scope: Scope,
    has_dynamic_references: bool,
}

impl<'s> Compiler<'s> {
    /// The number of a schema, which is compiled later.
    pub(crate) fn node(&mut self, schema: &'s Value) -> NodeId {
        let next = NodeId::new(self.schemas.len());
        let number = *self.numbers.entry(schema).or_insert(next);
        if number == next {
            self.schemas.push(schema);
        }
        number
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.scope.dialect
    }

    pub(crate) fn formats(&self) -> Formats {
        self.formats
    }

    pub(crate) fn is_only_reference(&self, schema: &Map<String, Value>) -> bool {
        self.dialect().is_only_reference(schema)
    }

    /// Compiles a pattern of the current schema; equal patterns are compiled once.
    pub(crate) fn pattern(&mut self, source: &'s str) -> Result<Arc<Pattern>, SchemaError> {
        if let Some(pattern) = self.patterns.get(source) {
            return Ok(Arc::clone(pattern));
        }
        if self.patterns.len() == MAX_PATTERNS {
            return Err(SchemaError::TooManyPatterns {
                limit: MAX_PATTERNS,
            });
        }
        let compiled = (self.compile_pattern)(source).map_err(|reason| SchemaError::Pattern {
            pointer: self.index.pointer(self.current),
            pattern: crate::shown::shortened(source),
            reason,
        })?;
        let pattern = Arc::new(compiled);
        self.patterns.insert(source, Arc::clone(&pattern));
        Ok(pattern)
    }

    /// The target of a reference in the current schema.
    pub(crate) fn target(&mut self, reference: &str) -> Result<Target<'s>, SchemaError> {
        self.index.target(self.current, reference)
    }

    /// The `$dynamicRef` of the current schema.
    pub(crate) fn dynamic_reference(&mut self, reference: &str) -> Result<InPlace, SchemaError> {
        let fallback = match self.target(reference)? {
            Target::Schema(schema) => self.node(schema),
            Target::Meta(dialect) => return Ok(InPlace::MetaSchema(dialect)),
        };
        let offers = self.index.dynamic_targets(self.current, reference);
        if offers.is_empty() {
            return Ok(InPlace::Reference(fallback));
        }
        self.has_dynamic_references = true;
        let offers = offers
            .into_iter()
            .map(|(resource, schema)| (resource, self.node(schema)))
            .collect();
        Ok(InPlace::DynamicReference(fallback, offers))
    }

    /// The names that require other names.
    pub(crate) fn dependent_names(
        &self,
        schema: &'s Map<String, Value>,
    ) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
        self.dependents(schema, "dependentRequired")
            .filter(|(_, needed)| needed.is_array())
    }

    /// The names that require a schema.
    pub(crate) fn dependent_schemas(
        &self,
        schema: &'s Map<String, Value>,
    ) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
        self.dependents(schema, "dependentSchemas")
            .filter(|(_, needed)| !needed.is_array())
    }

    fn dependents(
        &self,
        schema: &'s Map<String, Value>,
        keyword: &str,
    ) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
        let keyword = match self.dialect() {
            Dialect::Draft202012 => keyword,
            Dialect::Draft07 => "dependencies",
        };
        schema
            .get(keyword)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }

    fn compile_one(&mut self, schema: &'s Value) -> Result<Node, SchemaError> {
        self.current = schema;
        self.scope = self.index.scope(schema);
        let resource = self.scope.resource;
        let Value::Object(keywords) = schema else {
            let is_anything = schema != &Value::Bool(false);
            return Ok(if is_anything {
                Node::anything(resource)
            } else {
                Node::nothing(resource)
            });
        };
        let in_place = InPlace::read(keywords, self)?;
        if self.is_only_reference(keywords) {
            return Ok(Node {
                in_place,
                ..Node::anything(resource)
            });
        }
        Ok(Node {
            kinds: keywords.get("type").map_or(Kinds::ALL, Kinds::of_type),
            constant: keywords.get("const").cloned().map(Box::new),
            choices: keywords
                .get("enum")
                .and_then(Value::as_array)
                .map(|list| list[..].into()),
            number: NumberRules::read(keywords),
            text: TextRules::read(keywords, self)?,
            array: ArrayRules::read(keywords, self),
            object: ObjectRules::read(keywords, self)?,
            in_place,
            unevaluated: Unevaluated::read(keywords, self),
            samples: samples(keywords),
            ..Node::anything(resource)
        })
    }
}

/// Makes every node refer directly to its targets, past nodes that only refer to another node.
fn skip_aliases(nodes: &mut [Node]) {
    let aliases: Vec<Option<NodeId>> = nodes.iter().map(Node::alias).collect();
    let end = |mut node: NodeId| {
        // The cycles have been removed, so this ends.
        while let Some(next) = aliases[node.position()] {
            node = next;
        }
        node
    };
    for node in nodes {
        node.rename(end);
    }
}

fn samples(keywords: &Map<String, Value>) -> Box<[Value]> {
    let examples = keywords
        .get("examples")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    examples
        .take(MAX_SAMPLES)
        .chain(keywords.get("default"))
        .cloned()
        .collect()
}
