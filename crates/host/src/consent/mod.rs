//! Consent: the policy, grants, the user and the audit log.

mod action;
mod audit;
mod engine;
mod grant;
mod grant_file;
mod grants;
mod policy;
mod tool_digest;
mod user;

pub use action::{Action, ActionKind, Request};
pub use audit::{Audit, AuditRecord};
pub use engine::Denied;
pub(crate) use engine::{AskingServer, Consent, Permit};
pub use grant::Grant;
pub use grant_file::GrantFileError;
pub(crate) use grants::Grants;
pub use policy::{Decision, Policy, Rules};
pub use user::{
    ConsentAnswer, ConsentQuestion, FormAnswer, Requester, Review, Scope, UserInterface,
    VisitAnswer, VisitRequest,
};
