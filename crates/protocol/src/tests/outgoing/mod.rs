//! Everything that goes out to a peer of a revision: each message kind once with every optional
//! field and once with none.

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

/// All of it.
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
    match to {
        Revision::V2026_07_28 => modern::modern(&mut g),
        Revision::V2025_11_25 => task::tasks(&mut g),
        Revision::V2025_03_26 => batch::batches(&mut g),
        Revision::V2024_11_05 | Revision::V2025_06_18 => {}
    }
    g.cases
}
