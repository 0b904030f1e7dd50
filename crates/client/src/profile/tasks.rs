//! The task capabilities of a client.

use turnbuckle_protocol::{
    ClientCapabilities, JsonObject, Revision, TASKS_EXTENSION,
    method::{self, available},
};

/// Declares tasks where the revision has them. In 2026-07-28 this is the extension for tasks of the
/// server, which MUST NOT create a task for a request that does not declare it. In a session it is the
/// capability to answer the server's own requests as tasks.
pub(super) fn declare(capabilities: &mut ClientCapabilities, revision: Revision) {
    if revision.is_modern() {
        let extensions = capabilities.extensions.get_or_insert_default();
        let settings = JsonObject::new().into();
        extensions.entry(TASKS_EXTENSION).or_insert(settings);
        return;
    }
    let (can_sample, can_elicit) = (
        capabilities.sampling.is_some(),
        capabilities.elicitation.is_some(),
    );
    let has_tasks = available("tasks/result", revision, method::Direction::ToClient);
    if !has_tasks || !(can_sample || can_elicit) {
        return;
    }
    let yes = || Some(JsonObject::new());
    let tasks = capabilities.tasks.get_or_insert_default();
    tasks.list = yes();
    tasks.cancel = yes();
    let requests = tasks.requests.get_or_insert_default();
    if can_sample {
        requests.sampling.get_or_insert_default().create_message = yes();
    }
    if can_elicit {
        requests.elicitation.get_or_insert_default().create = yes();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn declared(revision: Revision) -> serde_json::Value {
        let mut capabilities = ClientCapabilities::new().with_form_elicitation();
        declare(&mut capabilities, revision);
        serde_json::to_value(capabilities).expect("plain JSON")
    }

    #[test]
    fn tasks_are_declared_where_the_revision_has_them() {
        let declared_at = |revision| {
            let declared = declared(revision);
            (
                declared.get("tasks").cloned(),
                declared.get("extensions").cloned(),
            )
        };
        assert_eq!(declared_at(Revision::V2025_06_18), (None, None));
        let own =
            json!({ "list": {}, "cancel": {}, "requests": { "elicitation": { "create": {} } } });
        assert_eq!(declared_at(Revision::V2025_11_25), (Some(own), None));
        let theirs = json!({ "io.modelcontextprotocol/tasks": {} });
        assert_eq!(declared_at(Revision::V2026_07_28), (None, Some(theirs)));
    }
}
