//! The host of an application: many servers, one catalog, and the user in control.
//!
//! The specification has three roles: host, client, server. A [`Host`] runs servers by name, from
//! the config files that people have or from code, keeps them running, and shows what they offer as
//! one [`HostCatalog`]. One [`Policy`] decides about every action before it happens, and a
//! [`UserInterface`] asks the user if the policy says so.
//!
//! | to | use |
//! |---|---|
//! | run the servers of a config file | [`Host::load`], [`HostBuilder::open`] |
//! | see what they do | [`Host::servers`], [`Host::states`] |
//! | list tools, prompts and resources | [`Host::catalog`] |
//! | call, read, get, complete | [`Host::call`], [`Host::read`], [`Host::get_prompt`], [`Host::complete_prompt`] |
//! | decide | [`Rules`], [`Policy`], [`Host::grants`], [`Host::revoke`] |
//! | ask people | [`UserInterface`] |
//! | write down what happened | [`Audit`] |
//! | keep resources as context | [`Host::conversation`], [`Conversation::attach`] |
//! | read config files, and nothing more | [`config`] |

mod catalog;
mod clock;
pub mod config;
mod consent;
mod context;
pub mod diff;
mod error;
mod fleet;
mod host;
mod id;
mod names;
mod roots;
mod sampling;
mod shown_uri;

pub use turnbuckle_client as client;
pub use turnbuckle_protocol as protocol;

pub use catalog::{
    CatalogPrompt, CatalogResource, CatalogTemplate, CatalogTool, HostCatalog, Problem,
};
pub use consent::{
    Action, ActionKind, Audit, AuditRecord, ConsentAnswer, ConsentQuestion, Decision, Denied,
    FormAnswer, Grant, GrantFileError, Policy, Request, Requester, Review, Rules, Scope,
    UserInterface, VisitAnswer, VisitRequest,
};
pub use context::Attachment;
pub use error::HostError;
pub use fleet::{
    FailureKind, InheritedVariables, Pacing, Ready, ServerFailure, ServerSpec, ServerState, Start,
    StateChange, StateStream,
};
pub use host::{
    ConfigNote, Conversation, Host, HostBuilder, HostCall, Reloaded, ResourceUpdate, ServerStatus,
    UpdateStream,
};
pub use id::{ConversationId, ServerId};
pub use names::Collision;
pub use sampling::{SamplingError, SamplingModel, SamplingRequest};

/// Items that the gateway shares with the host. They are not for applications and change without notice.
#[doc(hidden)]
pub mod shared {
    pub use crate::{
        fleet::{Fleet, FleetHooks, List, Listed, Lists, MissedUpdates, Upstream, own_secrets},
        names::{Namer, Prefix},
    };

    /// The current time, as RFC 3339 text.
    pub fn timestamp() -> String {
        crate::clock::rfc3339(std::time::SystemTime::now())
    }
}
