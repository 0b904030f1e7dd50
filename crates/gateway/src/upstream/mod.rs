//! One server behind the gateway: its sessions, and which call each of its questions belongs to.

mod hub;
mod lane;
mod member;

pub(crate) use hub::{LaneHub, OpenCall};
pub(crate) use lane::{Lane, LaneUse};
pub(crate) use member::{Common, Member, Plan};
