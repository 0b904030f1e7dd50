//! Raising: converts values of an older peer to the newest revision.
//!
//! Parsing does most of it, because the types have the members of every revision. The rest are cases in
//! which the old form is also a valid new one with another meaning.

use super::Revision;
use crate::{
    CallToolOutcome, CallToolResult, ClientCapabilities, ElicitRequestParams, EnumOption,
    ErrorObject, FormMode, InitializeRequestParams, InitializeResult, LegacyTitledEnumSchema,
    PrimitiveSchema, ServerCapabilities, TitledSingleSelectEnumSchema, error::code,
};

/// A value whose older forms differ.
pub trait Raise {
    /// Converts a value from a peer of revision `from` to the form of the newest revision.
    fn raise(&mut self, from: Revision);
}

impl Raise for ClientCapabilities {
    /// Elicitation without a mode means form mode.
    fn raise(&mut self, _from: Revision) {
        if let Some(elicitation) = &mut self.elicitation
            && elicitation.has_form()
        {
            elicitation.form.get_or_insert_default();
        }
    }
}

impl Raise for ServerCapabilities {
    /// A server of 2024-11-05 may complete arguments without declaring it.
    fn raise(&mut self, from: Revision) {
        if from == Revision::V2024_11_05 {
            self.completions.get_or_insert_default();
        }
    }
}

impl Raise for InitializeRequestParams {
    fn raise(&mut self, from: Revision) {
        self.capabilities.raise(from);
    }
}

impl Raise for InitializeResult {
    fn raise(&mut self, from: Revision) {
        self.capabilities.raise(from);
    }
}

impl Raise for ErrorObject {
    /// A resource that was not found gets its modern error code if the data contains its URI. Otherwise
    /// the error keeps the old code, which [`ErrorObject::is_resource_not_found`] also recognises.
    /// resources, 2026-07-28: clients SHOULD accept the old code too.
    fn raise(&mut self, _from: Revision) {
        if self.code == code::RESOURCE_NOT_FOUND && self.names_a_uri() {
            self.code = code::INVALID_PARAMS;
        }
    }
}

impl Raise for CallToolResult {
    /// Before 2026-07-28, structured content of `null` means that there is none.
    fn raise(&mut self, from: Revision) {
        if !from.is_modern() {
            self.structured_content.take_if(|raw| raw.get() == "null");
        }
    }
}

impl Raise for CallToolOutcome {
    fn raise(&mut self, from: Revision) {
        if let Self::Complete(result) = self {
            result.raise(from);
        }
    }
}

impl Raise for ElicitRequestParams {
    /// A request without a mode is a form, and separate display names move to their values.
    fn raise(&mut self, _from: Revision) {
        let Self::Form(form) = self else { return };
        form.mode = Some(FormMode::Form);
        for field in form.requested_schema.properties.values_mut() {
            if let PrimitiveSchema::LegacyTitled(legacy) = field {
                *field = PrimitiveSchema::TitledSingleSelect(titled(std::mem::take(legacy)));
            }
        }
    }
}

/// A value without a display name is displayed itself.
fn titled(legacy: LegacyTitledEnumSchema) -> TitledSingleSelectEnumSchema {
    let mut names = legacy.enum_names.unwrap_or_default().into_iter();
    let option = |value: String| {
        let title = names.next().unwrap_or_else(|| value.clone());
        EnumOption { value, title }
    };
    TitledSingleSelectEnumSchema {
        title: legacy.title,
        description: legacy.description,
        one_of: legacy.values.into_iter().map(option).collect(),
        default: legacy.default,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::revision::Lower;

    #[test]
    fn a_missing_resource_keeps_its_meaning_down_and_up() {
        let modern = ErrorObject::resource_not_found("file:///a");
        for &from in Revision::LEGACY {
            let mut error = modern.clone();
            error.lower(from);
            assert_eq!(error.code, code::RESOURCE_NOT_FOUND);
            error.raise(from);
            assert_eq!(error, modern);
        }
    }

    #[test]
    fn elicitation_without_a_mode_becomes_forms() {
        let mut capabilities: ClientCapabilities =
            serde_json::from_value(json!({"elicitation": {}})).unwrap();
        capabilities.raise(Revision::V2025_06_18);
        assert_eq!(
            capabilities,
            ClientCapabilities::new().with_form_elicitation()
        );

        let url_only = ClientCapabilities::new().with_url_elicitation();
        let mut capabilities = url_only.clone();
        capabilities.raise(Revision::V2025_11_25);
        assert_eq!(capabilities, url_only);
    }

    #[test]
    fn names_move_to_their_values() {
        let mut params: ElicitRequestParams = serde_json::from_value(json!({
            "message": "Colour?",
            "requestedSchema": {"type": "object", "properties": {"colour": {
                "type": "string", "enum": ["r", "g"], "enumNames": ["Red"],
            }}},
        }))
        .unwrap();
        params.raise(Revision::V2025_06_18);
        let json = serde_json::to_value(&params).unwrap();
        assert_eq!(json["mode"], "form");
        assert_eq!(
            json["requestedSchema"]["properties"]["colour"]["oneOf"],
            json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "g"}])
        );
    }

    #[test]
    fn null_means_no_structured_content_before_the_newest_revision() {
        let result: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null}"#).unwrap();
        assert!(result.structured_content.is_some());
        let mut old = result.clone();
        old.raise(Revision::V2025_11_25);
        assert!(old.structured_content.is_none());
        let mut new = result;
        new.raise(Revision::V2026_07_28);
        assert!(new.structured_content.is_some());
    }
}
