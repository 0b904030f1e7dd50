//! All messages to a peer of a revision: each kind once with every optional field and once with none.

mod batch;
mod elicitation;
mod error;
mod modern;
mod notification;
mod request;
mod result;
mod task;
mod value;

use crate::Revision;

use crate::tests::{
    generator::{Case, Generator},
    sample::Fullness,
};

/// Returns all messages.
pub(crate) fn cases(to: Revision, f: Fullness) -> Vec<Case> {
    let mut g = Generator::new(to, f);
    value::values(&mut g);
    value::words(&mut g);
    request::client_requests(&mut g);
    request::server_requests(&mut g);
    elicitation::elicitation(&mut g);
    result::results(&mut g);
    result::answers(&mut g);
    notification::notifications(&mut g);
    error::errors(&mut g);
    if to.is_modern() {
        modern::modern(&mut g);
    }
    if to.rules().task_fields {
        task::tasks(&mut g);
    }
    if to.rules().batches {
        batch::batches(&mut g);
    }
    g.cases
}
