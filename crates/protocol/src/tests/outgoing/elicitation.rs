//! Elicitation, as far as the revision supports it.

use crate::{ElicitRequestParams, Revision};
use serde_json::Value;

use crate::tests::{
    generator::{Generator, written},
    sample,
};

pub(super) fn elicitation(g: &mut Generator) {
    let (f, to) = (g.f, g.to);
    let mut fields = sample::single_fields(f);
    if to >= Revision::V2025_11_25 {
        fields.extend(sample::multi_fields(f));
    }
    let form = ElicitRequestParams::from(sample::form(fields, f)).lower_to(to);
    let visit = ElicitRequestParams::from(sample::visit(f)).lower_to(to);
    assert_eq!(form.is_ok(), to >= Revision::V2025_06_18);
    assert_eq!(visit.is_ok(), to >= Revision::V2025_11_25);
    if let Ok(ElicitRequestParams::Form(form)) = &form {
        fields_of_form(g, &written(&form.requested_schema));
    }
    for (params, exact) in [
        (form, "ElicitRequestFormParams"),
        (visit, "ElicitRequestURLParams"),
    ] {
        let Ok(params) = params else { continue };
        let json = written(&params);
        if g.has("elicitation/create") {
            let of = [exact, "ElicitRequestParams", "TaskAugmentedRequestParams"];
            g.request_json("elicitation/create", "ElicitRequest", &of, &json);
        } else {
            g.push(&[exact], &["ElicitRequestParams"], json);
        }
    }
}

/// Each field with its own definition. 2025-06-18 has one definition for all choices.
fn fields_of_form(g: &mut Generator, schema: &Value) {
    let samples = sample::single_fields(g.f)
        .into_iter()
        .chain(sample::multi_fields(g.f));
    for exact in samples.map(|(name, _)| name) {
        let Some(json) = schema["properties"].get(exact) else {
            continue;
        };
        let mut loose = vec!["PrimitiveSchemaDefinition"];
        for (part, union) in [
            ("Enum", "EnumSchema"),
            ("SingleSelect", "SingleSelectEnumSchema"),
            ("MultiSelect", "MultiSelectEnumSchema"),
        ] {
            if exact.contains(part) {
                loose.push(union);
            }
        }
        g.push(&[exact], &loose, json.clone());
    }
}
