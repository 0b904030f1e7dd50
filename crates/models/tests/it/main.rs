//! Models over a real socket: a fake API checks every request against the published references.

mod agent;
mod conversation;
mod errors;
mod formats;
mod keys;
mod rewriting;
mod sampling;
mod scripted;
mod shape;
mod stand_in;
mod streaming;
