//! An index of a schema document, made before anything is compiled: which values are schemas, their
//! names (`$id`, `$anchor`, `$dynamicAnchor`), and the target of each reference.

use std::collections::HashMap;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::node::ResourceId;
use crate::pointer;
use crate::reference::{percent_decoded, pointer_tokens, resolve, split_fragment};

/// The properties that a schema inherits from its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) resource: ResourceId,
    pub(crate) dialect: Dialect,
}

/// The target of a reference.
pub(crate) enum Target<'s> {
    Schema(&'s Value),
    /// The meta-schema of a dialect, which is built in.
    Meta(Dialect),
}

/// A schema resource and the anchors in it.
struct Resource<'s> {
    uri: String,
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    dynamic_anchors: HashMap<&'s str, &'s Value>,
}

pub(crate) struct Index<'s> {
    root: &'s Value,
    // Schemas are identified by their address: the document is borrowed as long as the index lives.
    scopes: HashMap<*const Value, Scope>,
    resources: Vec<Resource<'s>>,
    by_uri: HashMap<String, ResourceId>,
}

impl<'s> Index<'s> {
    pub(crate) fn of(root: &'s Value, default: Dialect) -> Result<Self, SchemaError> {
        let mut index = Self {
            root,
            scopes: HashMap::new(),
            resources: Vec::new(),
            by_uri: HashMap::new(),
        };
        let dialect = declared_dialect(root)?.unwrap_or(default);
        let scope = Scope {
            resource: index.open_resource(String::new(), root),
            dialect,
        };
        index.walk(root, scope)?;
        Ok(index)
    }

    /// The scope of a schema of the document.
    pub(crate) fn scope(&self, schema: &Value) -> Scope {
        let whole = Scope {
            resource: 0,
            dialect: Dialect::default(),
        };
        self.scopes
            .get(&std::ptr::from_ref(schema))
            .copied()
            .unwrap_or(whole)
    }

    /// The target of a `reference` in the schema `from`.
    pub(crate) fn target(
        &mut self,
        from: &'s Value,
        reference: &str,
    ) -> Result<Target<'s>, SchemaError> {
        let (document, fragment) = split_fragment(reference);
        let Some(resource) = self.resource_of(from, document) else {
            let uri = resolve(&self.base(from), document);
            return match Dialect::named(&uri).filter(|_| fragment.is_empty()) {
                Some(dialect) => Ok(Target::Meta(dialect)),
                None => Err(SchemaError::ExternalReference {
                    pointer: self.pointer(from),
                    uri,
                }),
            };
        };
        let found = if fragment.is_empty() {
            Some(self.resources[resource as usize].root)
        } else if fragment.starts_with('/') {
            self.follow(resource, fragment)?
        } else {
            let name = percent_decoded(fragment).unwrap_or_default();
            self.resources[resource as usize]
                .anchors
                .get(name.as_str())
                .copied()
        };
        found
            .map(Target::Schema)
            .ok_or_else(|| SchemaError::UnknownReference {
                pointer: self.pointer(from),
                reference: reference.to_owned(),
            })
    }

    /// Every schema that a `$dynamicRef` in `from` may refer to, with its resource. Empty if the initial target of the
    /// reference has no dynamic anchor, so that the reference is an ordinary one.
    pub(crate) fn dynamic_targets(
        &self,
        from: &Value,
        reference: &str,
    ) -> Vec<(ResourceId, &'s Value)> {
        let (document, anchor) = split_fragment(reference);
        let starts = self.resource_of(from, document).is_some_and(|resource| {
            self.resources[resource as usize]
                .dynamic_anchors
                .contains_key(anchor)
        });
        let offers = (0..).zip(&self.resources).filter_map(|(number, resource)| {
            Some((number, *resource.dynamic_anchors.get(anchor)?))
        });
        offers.filter(|_| starts).collect()
    }

    /// The JSON pointer of a schema, for messages.
    pub(crate) fn pointer(&self, schema: &Value) -> String {
        pointer::locate(self.root, schema)
    }

    fn base(&self, schema: &Value) -> String {
        self.resources[self.scope(schema).resource as usize]
            .uri
            .clone()
    }

    fn resource_of(&self, from: &Value, document: &str) -> Option<ResourceId> {
        if document.is_empty() {
            return Some(self.scope(from).resource);
        }
        self.by_uri
            .get(&resolve(&self.base(from), document))
            .copied()
    }

    /// Follows a JSON pointer. It may lead to a place where no keyword expects a schema; that place then becomes one.
    fn follow(
        &mut self,
        resource: ResourceId,
        fragment: &str,
    ) -> Result<Option<&'s Value>, SchemaError> {
        let mut value = self.resources[resource as usize].root;
        let mut scope = self.scope(value);
        let Some(tokens) = pointer_tokens(fragment) else {
            return Ok(None);
        };
        for token in tokens {
            let next = match value {
                Value::Object(members) => members.get(&token),
                Value::Array(items) => pointer::position(&token).and_then(|at| items.get(at)),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
            scope = self
                .scopes
                .get(&std::ptr::from_ref(value))
                .copied()
                .unwrap_or(scope);
        }
        self.walk(value, scope)?;
        Ok(Some(value))
    }

    /// Visits a schema and all subschemas in its keywords.
    fn walk(&mut self, start: &'s Value, scope: Scope) -> Result<(), SchemaError> {
        let mut open = vec![(start, scope)];
        while let Some((value, scope)) = open.pop() {
            if self.scopes.contains_key(&std::ptr::from_ref(value)) {
                continue;
            }
            let scope = self.enter(value, scope)?;
            self.scopes.insert(value, scope);
            let Value::Object(schema) = value else {
                continue;
            };
            for (keyword, inner, form) in scope.dialect.keywords(schema) {
                if !form.admits(inner) {
                    return Err(SchemaError::Keyword {
                        pointer: self.pointer(value),
                        keyword: keyword.to_owned(),
                        expected: form.expected(),
                    });
                }
                open.extend(form.subschemas(inner).map(|inner| (inner, scope)));
            }
        }
        Ok(())
    }

    /// Notes the names that a schema declares; returns the scope inside it.
    fn enter(&mut self, value: &'s Value, scope: Scope) -> Result<Scope, SchemaError> {
        let schema = match value {
            Value::Object(schema) => schema,
            Value::Bool(_) => return Ok(scope),
            _ => {
                let found = crate::kind::name(value);
                return Err(SchemaError::NotASchema {
                    pointer: self.pointer(value),
                    found,
                });
            }
        };
        if scope.dialect.is_only_reference(schema) {
            return Ok(scope);
        }
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let mut scope = scope;
        if let Some(id) = text("$id") {
            let (document, fragment) = split_fragment(id);
            if !document.is_empty() {
                scope = self.enter_resource(value, scope, document)?;
            }
            if scope.dialect == Dialect::Draft07 && !fragment.is_empty() {
                self.name(value, scope.resource, fragment)?;
            }
        }
        if scope.dialect == Dialect::Draft202012 {
            if let Some(anchor) = text("$anchor") {
                self.name(value, scope.resource, anchor)?;
            }
            if let Some(anchor) = text("$dynamicAnchor") {
                self.name(value, scope.resource, anchor)?;
                let resource = &mut self.resources[scope.resource as usize];
                resource.dynamic_anchors.insert(anchor, value);
            }
        }
        Ok(scope)
    }

    fn enter_resource(
        &mut self,
        value: &'s Value,
        scope: Scope,
        document: &str,
    ) -> Result<Scope, SchemaError> {
        let uri = resolve(&self.resources[scope.resource as usize].uri, document);
        if std::ptr::eq(value, self.root) {
            self.resources[0].uri.clone_from(&uri);
            self.by_uri.insert(uri, 0);
            return Ok(scope);
        }
        if self.by_uri.contains_key(&uri) {
            return Err(SchemaError::DuplicateName {
                pointer: self.pointer(value),
                name: uri,
            });
        }
        let dialect = declared_dialect(value)?.unwrap_or(scope.dialect);
        Ok(Scope {
            resource: self.open_resource(uri, value),
            dialect,
        })
    }

    fn open_resource(&mut self, uri: String, root: &'s Value) -> ResourceId {
        // The document has at most MAX_SCHEMA_VALUES values, so the number fits.
        let number = ResourceId::try_from(self.resources.len()).unwrap_or(ResourceId::MAX);
        if !uri.is_empty() {
            self.by_uri.insert(uri.clone(), number);
        }
        let (anchors, dynamic_anchors) = (HashMap::new(), HashMap::new());
        self.resources.push(Resource {
            uri,
            root,
            anchors,
            dynamic_anchors,
        });
        number
    }

    fn name(
        &mut self,
        value: &'s Value,
        resource: ResourceId,
        anchor: &'s str,
    ) -> Result<(), SchemaError> {
        match self.resources[resource as usize]
            .anchors
            .insert(anchor, value)
        {
            Some(other) if !std::ptr::eq(other, value) => Err(SchemaError::DuplicateName {
                pointer: self.pointer(value),
                name: anchor.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

fn declared_dialect(schema: &Value) -> Result<Option<Dialect>, SchemaError> {
    match schema.get("$schema").and_then(Value::as_str) {
        None => Ok(None),
        Some(uri) => match Dialect::named(uri) {
            None => Err(SchemaError::Dialect {
                uri: uri.to_owned(),
            }),
            dialect => Ok(dialect),
        },
    }
}
