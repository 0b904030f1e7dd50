//! Checks whether a Rust type can hold a kind of the table.

use super::{Form, Ours, Rust, definitions};
use crate::tests::facts::{Kind, Table};

/// The table and our types, for looking up names.
pub(super) struct Names<'a> {
    pub(super) table: &'a Table,
    pub(super) ours: &'a [Ours],
}

impl Names<'_> {
    /// Returns whether the type can hold the kind. `path` is the position of the kind in a revision.
    pub(super) fn fits(&self, rust: &Rust, kind: &Kind, path: &str, revision: usize) -> bool {
        match kind {
            Kind::Type(name) if definitions(&rust.name).contains(name) => true,
            Kind::Type(name) => self
                .table
                .facts
                .iter()
                .filter(|fact| fact.owner == name && fact.field.is_empty())
                .any(|fact| fact.holds(revision) && self.fits(rust, &fact.kind, name, revision)),
            Kind::Either(kinds) => self.fits_either(rust, kinds, path, revision),
            Kind::All(kinds) => kinds
                .iter()
                .any(|kind| self.fits(rust, kind, path, revision)),
            _ => self.fits_plain(rust, kind, path, revision),
        }
    }

    /// Each alternative must fit: in the type, in one of its variants, or in its items.
    fn fits_either(&self, rust: &Rust, kinds: &[Kind], path: &str, revision: usize) -> bool {
        let mut places = vec![rust];
        if rust.name == "Vec" {
            // A single item may be written without its array.
            places.extend(&rust.arguments);
        }
        let variants: Vec<_> = places.iter().flat_map(|rust| self.variants(rust)).collect();
        places.extend(variants);
        let has_place = |kind: &Kind| {
            let mut places = places.iter();
            places.any(|rust| self.fits(rust, kind, path, revision))
        };
        kinds.iter().all(has_place)
    }

    fn variants(&self, rust: &Rust) -> &[Rust] {
        let ours = self.ours.iter().find(|ours| ours.name == rust.name);
        match ours.map(|ours| &ours.form) {
            Some(Form::Either(variants)) => variants,
            _ => &[],
        }
    }

    fn fits_plain(&self, rust: &Rust, kind: &Kind, path: &str, revision: usize) -> bool {
        let item = rust.arguments.last().map(Rust::bare);
        let is_words = self
            .ours
            .iter()
            .any(|ours| ours.name == rust.name && matches!(ours.form, Form::Words(_)));
        match (kind, rust.name.as_str(), item) {
            // Values that are kept unchanged.
            (Kind::Any | Kind::Object { .. }, "Value" | "RawValue" | "JsonObject" | "Meta", _) => {
                true
            }
            (Kind::Plain { types, .. }, name, _) => match name {
                "String" | "Cursor" => types == &["string"],
                "bool" => types == &["boolean"],
                "i64" | "u64" => {
                    types == &["integer"] || types == &["number"] || types == &["integer", "null"]
                }
                "f64" | "Number" => types == &["number"] || types == &["integer"],
                "Id" | "ProgressToken" => types == &["string", "integer"],
                "ElicitValue" => types.iter().all(|name| name != "object"),
                _ => is_words && types == &["string"],
            },
            (Kind::Words(_), _, _) => is_words,
            (Kind::Constant(word), name, _) => word.is_string() && (name == "String" || is_words),
            (Kind::Array(kind, _), "Vec", Some(item)) => {
                self.fits(item, kind, &format!("{path}[]"), revision)
            }
            (
                Kind::Object {
                    others: Some(kind), ..
                },
                "IndexMap",
                Some(item),
            ) => self.fits(item, kind, &format!("{path}{{}}"), revision),
            (Kind::Object { .. }, name, _) => definitions(name).iter().any(|known| known == path),
            _ => self
                .variants(rust)
                .iter()
                .any(|variant| self.fits(variant, kind, path, revision)),
        }
    }
}
