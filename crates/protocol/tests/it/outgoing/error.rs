//! Errors.

use turnbuckle_protocol::{ClientCapabilities, ErrorObject, Revision, error::code};

use crate::{generator::Generator, sample};

pub(super) fn errors(g: &mut Generator) {
    g.error(&["ParseError"], &[], ErrorObject::parse_error("no JSON"));
    g.error(
        &["InvalidRequestError"],
        &[],
        ErrorObject::invalid_request("no method"),
    );
    g.error(
        &["MethodNotFoundError"],
        &[],
        ErrorObject::method_not_found("tools/fly"),
    );
    g.error(
        &["InvalidParamsError"],
        &[],
        ErrorObject::invalid_params("bad cursor").with_data(1),
    );
    g.error(&["InternalError"], &[], ErrorObject::internal("broken"));
    g.error(&[], &[], ErrorObject::resource_not_found("file:///a"));
    g.error(&[], &[], ErrorObject::new(code::USER_REJECTED, "no"));
    with_data(g);
}

/// Errors with a definition of their own, which they satisfy where the revision has them.
fn with_data(g: &mut Generator) {
    let required = ClientCapabilities::new().with_form_elicitation();
    let missing = ErrorObject::missing_capability("a form is needed", required);
    let unsupported = ErrorObject::unsupported_version("1900-01-01", &Revision::ALL);
    let mismatch = ErrorObject::header_mismatch("not the same");
    let mut visit = sample::visit(g.f);
    visit.meta = None;
    let visit = ErrorObject::url_elicitation_required(vec![visit]);
    for (revision, exact, error) in [
        (
            Revision::V2026_07_28,
            "MissingRequiredClientCapabilityError",
            missing,
        ),
        (
            Revision::V2026_07_28,
            "UnsupportedProtocolVersionError",
            unsupported,
        ),
        (Revision::V2026_07_28, "HeaderMismatchError", mismatch),
        (Revision::V2025_11_25, "URLElicitationRequiredError", visit),
    ] {
        let response: &[&str] = if g.to == revision { &[exact] } else { &[] };
        g.error(&[], response, error);
    }
}
