//! Models over a real socket: a stand-in for the APIs checks every request against the shapes that
//! their references publish.

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
