//! Finds the resource or the template for a URI.

use std::sync::Arc;

use serde_json::{Map, Value};
use turnbuckle_protocol::ReadResourceResult;

use super::{Callable, Reading, ResourceEntry, Snapshot, TemplateEntry};
use crate::{Caller, Layer, Reply, handler::Erased};

/// The resource or template that was found, with the values of the template's variables.
pub(crate) enum Found {
    One(Arc<ResourceEntry>),
    OfTemplate(Arc<TemplateEntry>, Map<String, Value>),
}

impl Found {
    pub(crate) fn reading(&self) -> &Reading {
        match self {
            Self::One(entry) => &entry.read,
            Self::OfTemplate(entry, _) => &entry.read,
        }
    }
}

impl Snapshot {
    /// Finds the resource for a URI: first a resource with exactly this URI, then the most specific
    /// template that matches.
    pub(crate) fn resource_at(&self, uri: &str, caller: &Caller) -> Option<Found> {
        if let Some(entry) = self.resources.get(uri, caller) {
            return Some(Found::One(Arc::clone(entry)));
        }
        self.templates
            .iter()
            .filter(|entry| super::Entry::is_visible(entry.as_ref(), caller))
            .filter_map(|entry| Some((entry, entry.template.matches(uri)?)))
            .min_by(|(one, _), (other, _)| one.template.precedence(&other.template))
            .map(|(entry, variables)| Found::OfTemplate(Arc::clone(entry), variables))
    }
}

impl Callable for Found {
    type Output = ReadResourceResult;

    fn handler(&self) -> &Erased<ReadResourceResult> {
        &self.reading().handler
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.reading().layers
    }

    fn wrap(output: ReadResourceResult) -> Reply {
        Reply::Resource(output)
    }

    fn unwrap(reply: Reply) -> Option<ReadResourceResult> {
        match reply {
            Reply::Resource(result) => Some(result),
            _ => None,
        }
    }
}
