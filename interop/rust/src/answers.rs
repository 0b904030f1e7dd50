//! What the client answers when a server asks.

use turnbuckle::{
    client::{Answers, Roots},
    protocol::{CreateMessageResult, ElicitResult, Root},
};

/// Fills in every form with a name, says hello for every model, and has one root.
pub(crate) fn answers() -> Answers {
    Answers::new()
        .on_form(|_form| async {
            Ok(ElicitResult::accept([("name", "Ada")]))
        })
        .on_sample(|_request| async { Ok(CreateMessageResult::new("interop", "Hello.")) })
        .roots(Roots::from(vec![Root::new("file:///interop")]))
}
