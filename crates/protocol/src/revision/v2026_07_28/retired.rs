//! The members that 2026-07-28 removed: they are cleared in messages to a modern peer.

use serde_json::json;

use crate::{
    ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ElicitResult, ErrorObject,
    ListRootsResult, Meta, Revision, ServerCapabilities, Tool, error::code, meta::key,
};

pub(in crate::revision) fn applies(to: Revision) -> bool {
    to >= Revision::V2026_07_28
}

/// Tasks became an extension that does not use `_meta`.
pub(in crate::revision) fn meta(meta: &mut Meta) {
    meta.remove(&key::TASK);
}

pub(in crate::revision) fn tool(tool: &mut Tool) {
    tool.execution = None;
}

pub(in crate::revision) fn client_capabilities(capabilities: &mut ClientCapabilities) {
    capabilities.tasks = None;
    if let Some(roots) = &mut capabilities.roots {
        roots.list_changed = None;
    }
}

pub(in crate::revision) fn server_capabilities(capabilities: &mut ServerCapabilities) {
    capabilities.tasks = None;
}

/// Embedded requests are not JSON-RPC requests and have no `_meta`.
pub(in crate::revision) fn create_message_params(params: &mut CreateMessageRequestParams) {
    params.task = None;
    params.meta = None;
}

pub(in crate::revision) fn elicit_params(params: &mut ElicitRequestParams) {
    match params {
        ElicitRequestParams::Form(form) => {
            form.task = None;
            form.meta = None;
        }
        ElicitRequestParams::Url(url) => {
            url.elicitation_id = None;
            url.task = None;
            url.meta = None;
        }
    }
}

/// Codes that the specification reserves and has not assigned.
const RESERVED: std::ops::RangeInclusive<i64> = -32099..=-32023;

pub(in crate::revision) fn error(error: &mut ErrorObject) {
    if error.code == code::RESOURCE_NOT_FOUND {
        error.code = code::INVALID_PARAMS;
    } else if RESERVED.contains(&error.code) {
        let was = json!({ "code": error.code, "data": error.data.take() });
        error.code = code::INTERNAL_ERROR;
        error.data = Some(was);
    }
}

/// An answer inside a request is not a JSON-RPC result and has no `_meta`.
pub(in crate::revision) fn elicit_result(result: &mut ElicitResult) {
    result.meta = None;
}

pub(in crate::revision) fn list_roots_result(result: &mut ListRootsResult) {
    result.meta = None;
}
