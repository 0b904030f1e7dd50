//! One server behind the gateway: its sessions, and the assignment of its questions to calls.

mod call_asks;
mod held;
mod hub;
mod kept_lanes;
mod known_tools;
mod lane;
mod lane_news;
mod member;
mod open_call;
mod plan;
mod processes;
mod shares;
mod turn;

pub(crate) use hub::{LaneHub, LaneRole, NewCall};
pub(crate) use lane::{Lane, LaneUse, SpareUse};
pub(crate) use lane_news::{LaneNews, OnNews, update_of};
pub(crate) use member::Member;
pub(crate) use open_call::OpenCall;
pub(crate) use plan::{Common, Plan, can_be_asked};
pub(crate) use processes::Processes;
pub(crate) use turn::Turn;
