//! The fleet: starts, supervises and lists the servers of a host.
//!
//! It knows nothing about consent or users: the owner of the fleet takes part through
//! [`FleetHooks`]. Hosts and gateways use the same fleet.

mod aside;
mod failure;
mod filter;
mod inherited;
mod kind;
mod known;
mod listing;
mod members;
mod origin;
mod pace;
mod page;
mod reach;
mod reach_check;
mod spec;
mod state;
mod supervise;
mod unread;
mod upstream;

use aside::aside;
pub use failure::{FailureKind, ServerFailure};
pub(crate) use filter::{ToolFilter, matches};
pub use inherited::{InheritedVariables, own_secrets};
pub use listing::{List, Listed};
pub use members::Fleet;
pub(crate) use origin::{Attribution, Origin};
pub use pace::Pacing;
pub(crate) use spec::Customise;
#[cfg(feature = "http")]
pub(crate) use spec::ReachHook;
pub use spec::{ServerSpec, Start};
pub(crate) use state::MAX_WAITING_STATES;
pub use state::{Ready, ServerState, StateChange, StateStream};
pub use supervise::{FleetHooks, MissedUpdates};
pub(crate) use supervise::{FleetShared, supervise};
pub(crate) use upstream::AllowedRoot;
pub use upstream::{Lists, Upstream};
