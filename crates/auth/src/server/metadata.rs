//! Protected resource metadata: where clients get tokens for this server (RFC 9728).

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{challenge::Scheme, refusal::Terms, resource::Resource};

/// The optional members of the metadata.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) name: Option<String>,
    pub(super) documentation: Option<String>,
}

/// Makes the metadata document.
pub(super) fn document(
    resource: &Resource,
    issuers: &[&str],
    scopes: &[String],
    terms: &Terms,
    about: &About,
) -> Bytes {
    let mut document = Map::new();
    document.insert("resource".into(), resource.as_str().into());
    document.insert("authorization_servers".into(), json!(issuers));
    document.insert("bearer_methods_supported".into(), json!(["header"]));
    if !scopes.is_empty() {
        document.insert("scopes_supported".into(), json!(scopes));
    }
    if terms.schemes.contains(&Scheme::Dpop) {
        let algorithms: Vec<_> = terms.proof_algorithms.split(' ').collect();
        document.insert(
            "dpop_signing_alg_values_supported".into(),
            json!(algorithms),
        );
        if !terms.schemes.contains(&Scheme::Bearer) {
            document.insert("dpop_bound_access_tokens_required".into(), json!(true));
        }
    }
    if let Some(name) = &about.name {
        document.insert("resource_name".into(), json!(name));
    }
    if let Some(documentation) = &about.documentation {
        document.insert("resource_documentation".into(), json!(documentation));
    }
    Value::Object(document).to_string().into()
}
