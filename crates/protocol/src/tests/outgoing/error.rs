//! Errors.

use crate::{ClientCapabilities, ErrorObject, Revision, error::code};
use serde_json::json;

use crate::tests::{generator::Generator, sample};

pub(super) fn errors(g: &mut Generator) {
    let data = g.f.opt(json!({"reason": "none"}));
    for (exact, error) in [
        ("ParseError", ErrorObject::parse_error("no JSON")),
        (
            "InvalidRequestError",
            ErrorObject::invalid_request("no method"),
        ),
        (
            "MethodNotFoundError",
            ErrorObject::method_not_found("tools/fly"),
        ),
        (
            "InvalidParamsError",
            ErrorObject::invalid_params("bad cursor"),
        ),
        ("InternalError", ErrorObject::internal("broken")),
    ] {
        g.error(
            &[exact],
            &[],
            ErrorObject {
                data: data.clone(),
                ..error
            },
        );
    }
    g.error(&[], &[], ErrorObject::resource_not_found("file:///a"));
    g.error(&[], &[], ErrorObject::new(code::USER_REJECTED, "no"));
    with_data(g);
}

/// Errors with their own definition, which they satisfy in revisions that have them.
fn with_data(g: &mut Generator) {
    let required = ClientCapabilities::new().with_form_elicitation();
    let missing = ErrorObject::missing_capability("a form is needed", required);
    let unsupported = ErrorObject::unsupported_version("1900-01-01", Revision::ALL);
    let mismatch = ErrorObject::header_mismatch("not the same");
    let mut visit = sample::visit(g.f);
    visit.meta = None;
    let visit = ErrorObject::url_elicitation_required(vec![visit]);
    let is_modern = g.to.is_modern();
    for (is_defined, exact, error) in [
        (is_modern, "MissingRequiredClientCapabilityError", missing),
        (is_modern, "UnsupportedProtocolVersionError", unsupported),
        (is_modern, "HeaderMismatchError", mismatch),
        (
            g.to.rules().visits_first,
            "URLElicitationRequiredError",
            visit,
        ),
    ] {
        let response: &[&str] = if is_defined { &[exact] } else { &[] };
        g.error(&[], response, error);
    }
}
