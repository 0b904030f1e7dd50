//! What a client says of tasks when it says what it can do.

use turnbuckle_protocol::{ClientCapabilities, JsonObject, Revision, TASKS_EXTENSION};

/// The extension: a server MUST NOT make a task of a request that does not declare it.
pub(crate) fn declare(capabilities: &mut ClientCapabilities, revision: Revision) {
    if revision.is_modern() {
        let extensions = capabilities.extensions.get_or_insert_default();
        let settings = JsonObject::new().into();
        extensions.entry(TASKS_EXTENSION).or_insert(settings);
    }
}
