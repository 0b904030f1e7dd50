//! The header annotations of an input schema, and their rules.
//!
//! server/tools, "x-mcp-header". An annotation is only valid on a property that is reached from the
//! root through `properties` alone, because only then the place of its value is known without
//! evaluating the schema.

use serde_json::Value;

use super::{AnnotationFault, Node, Param, ParamHeaders};
use crate::JsonObject;
use crate::http::header::PARAM_PREFIX;

const KEYWORD: &str = "x-mcp-header";
const PROPERTIES: &str = "properties";

/// Keywords whose value is a schema or an array of schemas. Data (`const`, `enum`, `default`,
/// `examples`) and unknown keywords contain no schemas.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is an object of schemas. Its member names are not keywords.
const NAMED_SCHEMAS: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
];

pub(super) fn scan(schema: &JsonObject) -> Result<ParamHeaders, AnnotationFault> {
    let mut scan = Scan::default();
    let mut path = Vec::new();
    if schema.contains_key(KEYWORD) {
        return Err(unreachable(&path));
    }
    let children = scan.reachable(schema, &mut path)?;
    Ok(ParamHeaders {
        params: scan.params,
        root: Node {
            param: None,
            children,
        },
    })
}

/// The annotations found so far. The recursion is as deep as the schema, and JSON that was parsed from
/// text is at most 128 levels deep.
#[derive(Default)]
struct Scan {
    params: Vec<Param>,
}

impl Scan {
    /// Scans a schema that is reached through `properties` alone. Keeps the nodes that lead to an
    /// annotation.
    fn reachable<'s>(
        &mut self,
        schema: &'s JsonObject,
        path: &mut Vec<&'s str>,
    ) -> Result<Vec<(String, Node)>, AnnotationFault> {
        elsewhere(schema, path)?;
        let mut children = Vec::new();
        for (name, property) in named(schema, PROPERTIES) {
            path.push(name);
            let node = self.property(property, path)?;
            path.pop();
            if node.param.is_some() || !node.children.is_empty() {
                children.push((name.to_owned(), node));
            }
        }
        Ok(children)
    }

    fn property<'s>(
        &mut self,
        property: &'s JsonObject,
        path: &mut Vec<&'s str>,
    ) -> Result<Node, AnnotationFault> {
        let param = match property.get(KEYWORD) {
            Some(name) => Some(self.annotation(name, property, &path.join("."))?),
            None => None,
        };
        let children = self.reachable(property, path)?;
        Ok(Node { param, children })
    }

    /// Records an annotation at an allowed place.
    fn annotation(
        &mut self,
        name: &Value,
        property: &JsonObject,
        path: &str,
    ) -> Result<usize, AnnotationFault> {
        let path = path.to_owned();
        let Some(name) = name.as_str() else {
            return Err(AnnotationFault::NotText { path });
        };
        if name.is_empty() {
            return Err(AnnotationFault::Empty { path });
        }
        let name = name.to_owned();
        if !name.bytes().all(is_token) {
            return Err(AnnotationFault::NotToken { path, name });
        }
        if !is_primitive(property.get("type")) {
            let found = property
                .get("type")
                .map_or("none".to_owned(), Value::to_string);
            return Err(AnnotationFault::Type { path, found });
        }
        let header = format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase());
        if let Some(other) = self.params.iter().find(|param| param.header == header) {
            let other = other.path.clone();
            return Err(AnnotationFault::Duplicate { path, name, other });
        }
        self.params.push(Param { header, path });
        Ok(self.params.len() - 1)
    }
}

fn unreachable(path: &[&str]) -> AnnotationFault {
    let path = if path.is_empty() {
        "the root".to_owned()
    } else {
        path.join(".")
    };
    AnnotationFault::Unreachable { path }
}

/// Checks that no schema under keywords other than `properties` has an annotation.
fn elsewhere<'s>(schema: &'s JsonObject, path: &mut Vec<&'s str>) -> Result<(), AnnotationFault> {
    for (keyword, value) in schema {
        path.push(keyword);
        if NAMED_SCHEMAS.contains(&keyword.as_str()) {
            for (name, schema) in named(schema, keyword) {
                path.push(name);
                unannotated(schema, path)?;
                path.pop();
            }
        } else if SCHEMAS.contains(&keyword.as_str()) {
            let one = value.as_object().into_iter();
            let many = value.as_array().into_iter().flatten();
            for schema in one.chain(many.filter_map(Value::as_object)) {
                unannotated(schema, path)?;
            }
        }
        path.pop();
    }
    Ok(())
}

fn unannotated<'s>(schema: &'s JsonObject, path: &mut Vec<&'s str>) -> Result<(), AnnotationFault> {
    if schema.contains_key(KEYWORD) {
        return Err(unreachable(path));
    }
    elsewhere(schema, path)?;
    for (name, property) in named(schema, PROPERTIES) {
        path.push(name);
        unannotated(property, path)?;
        path.pop();
    }
    Ok(())
}

/// The named schemas in a keyword's object.
fn named<'s>(
    schema: &'s JsonObject,
    keyword: &str,
) -> impl Iterator<Item = (&'s str, &'s JsonObject)> {
    schema
        .get(keyword)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| Some((name.as_str(), schema.as_object()?)))
}

/// Whether every value of this type can be a header, or is null and needs none.
fn is_primitive(of_type: Option<&Value>) -> bool {
    let is_carried = |name: &str| matches!(name, "string" | "integer" | "boolean");
    match of_type {
        Some(Value::String(name)) => is_carried(name),
        // A nullable type: null has no header, so `["string", "null"]` is allowed like `"string"`.
        Some(Value::Array(names)) => {
            let names: Vec<_> = names
                .iter()
                .map(|name| name.as_str().unwrap_or(""))
                .collect();
            names.iter().any(|name| is_carried(name))
                && names.iter().all(|name| is_carried(name) || *name == "null")
        }
        _ => false,
    }
}

/// RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scan(schema: &Value) -> Result<ParamHeaders, AnnotationFault> {
        ParamHeaders::of(schema.as_object().expect("a schema here is an object"))
    }

    fn property(schema: &Value) -> Result<ParamHeaders, AnnotationFault> {
        scan(&json!({"type": "object", "properties": {"region": schema}}))
    }

    fn names(params: &ParamHeaders) -> Vec<&str> {
        params.names().collect()
    }

    #[test]
    fn annotations_are_found_by_properties_alone() {
        let params = scan(&json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "method": {"type": "boolean", "x-mcp-header": "Method"},
            "where": {"type": "object", "properties": {
                "deep": {"type": "object", "properties": {
                    "zone": {"type": "integer", "x-mcp-header": "Zone_1"}}}}},
        }}))
        .unwrap();
        assert_eq!(
            names(&params),
            ["mcp-param-region", "mcp-param-method", "mcp-param-zone_1"]
        );
        assert_eq!(params.params[2].path, "where.deep.zone");
        assert!(!params.is_empty());
    }

    #[test]
    fn a_schema_without_annotations_has_no_headers() {
        for schema in [
            json!({}),
            json!({"type": "object"}),
            json!({"properties": 1}),
        ] {
            assert!(scan(&schema).unwrap().is_empty());
        }
    }

    #[test]
    fn a_name_is_a_token() {
        assert_eq!(
            property(&json!({"type": "string", "x-mcp-header": ""})),
            Err(AnnotationFault::Empty {
                path: "region".into()
            })
        );
        for name in [json!(1), json!(null), json!(["Region"])] {
            let fault = property(&json!({"type": "string", "x-mcp-header": name})).unwrap_err();
            assert!(matches!(fault, AnnotationFault::NotText { .. }), "{fault}");
        }
        for name in [
            "My Region",
            "Region:Primary",
            "Région",
            "Region\t1",
            "a\r\nb",
            "a/b",
            "\0",
        ] {
            let fault = property(&json!({"type": "string", "x-mcp-header": name})).unwrap_err();
            assert!(matches!(fault, AnnotationFault::NotToken { .. }), "{fault}");
        }
        assert!(property(&json!({"type": "string", "x-mcp-header": "a!#$%&'*+-.^_`|~Z9"})).is_ok());
    }

    #[test]
    fn names_differ_by_more_than_case() {
        let fault = scan(&json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": "REGION"}}},
        }}))
        .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "`x-mcp-header` \"REGION\" of `b.c` is also used by `a`; rename one"
        );
    }

    #[test]
    fn only_primitive_types_are_carried() {
        for of_type in [
            json!("number"),
            json!("object"),
            json!("array"),
            json!("null"),
            json!(["null"]),
            json!(["string", "number"]),
            json!([]),
            json!(7),
        ] {
            let fault = property(&json!({"type": of_type, "x-mcp-header": "R"})).unwrap_err();
            assert!(matches!(fault, AnnotationFault::Type { .. }), "{fault}");
        }
        let fault = property(&json!({"$ref": "#/$defs/region", "x-mcp-header": "R"})).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "`x-mcp-header` of `region` needs type string, integer or boolean, not none"
        );
        for of_type in [
            json!("string"),
            json!("integer"),
            json!("boolean"),
            json!(["string", "null"]),
        ] {
            assert!(property(&json!({"type": of_type, "x-mcp-header": "R"})).is_ok());
        }
    }

    #[test]
    fn an_annotation_anywhere_else_is_refused() {
        let marked = json!({"type": "string", "x-mcp-header": "R"});
        for keyword in SCHEMAS {
            for value in [
                marked.clone(),
                json!([true, marked]),
                json!({"properties": {"a": marked}}),
            ] {
                let fault = property(&json!({ *keyword: value })).unwrap_err();
                let text = fault.to_string();
                assert!(
                    matches!(fault, AnnotationFault::Unreachable { .. }),
                    "{text}"
                );
                assert!(text.contains(&format!("region.{keyword}")), "{text}");
            }
        }
        for keyword in NAMED_SCHEMAS {
            let fault = scan(&json!({ *keyword: {"name": marked} })).unwrap_err();
            assert_eq!(
                fault,
                AnnotationFault::Unreachable {
                    path: format!("{keyword}.name")
                }
            );
        }
        let nested = json!({"anyOf": [{"items": {"not": {"$defs": {"a": marked}}}}]});
        assert!(scan(&nested).is_err());
    }

    #[test]
    fn an_annotation_at_the_root_is_refused() {
        let fault = scan(&json!({"type": "string", "x-mcp-header": "R"})).unwrap_err();
        assert!(matches!(fault, AnnotationFault::Unreachable { .. }));
    }

    #[test]
    fn data_and_names_are_no_annotations() {
        let params = scan(&json!({
            "properties": {
                "x-mcp-header": {"type": "string"},
                "a": {"const": {"x-mcp-header": 1}, "default": {"x-mcp-header": ""}},
                "b": {"enum": [{"x-mcp-header": ""}], "examples": [{"x-mcp-header": ""}]},
            },
            "$defs": {"x-mcp-header": {"type": "string"}},
        }))
        .unwrap();
        assert!(params.is_empty());
    }
}
