//! What the client answers when a server asks.

use turnbuckle::{
    client::{Answers, Roots},
    protocol::{CreateMessageResult, ElicitResult},
};

/// Fills in every form with a name, agrees to visit every URL, says hello for every model, and has
/// these roots.
pub(crate) fn answers(roots: Roots) -> Answers {
    Answers::new()
        .on_form(|_form| async { Ok(ElicitResult::accept([("name", "Ada")])) })
        .on_sample(|_request| async { Ok(CreateMessageResult::new("interop", "Hello.")) })
        .on_url(|_visit| async { Ok(ElicitResult::accept_visit()) })
        .roots(roots)
}
